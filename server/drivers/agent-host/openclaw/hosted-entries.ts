import type { HostedEntry, TranscriptRole } from "../../../../domain/ports/agent-host.ts";
import type { GatewayMessage } from "./gateway-schemas.ts";
import { toLine, toText } from "./sanitize-hosted-text.ts";

const MAX_NAME = 128;

const ROLES: Record<string, TranscriptRole> = {
  user: "user",
  assistant: "assistant",
  toolResult: "tool",
  tool: "tool",
};
const TOOL_CALLS: ReadonlySet<string> = new Set(["toolCall", "toolUse", "tool_use"]);

/** What a gateway does not tell of an entry, or not exactly. */
const UNKNOWN = { id: null, bytes: null, model: null, usage: null } as const;

/** Returns the text of a message, and each of its tool calls, as entries. Thoughts of the model are left out. */
export function toHostedEntries(message: GatewayMessage, seq: number, maxCharacters: number): HostedEntry[] {
  const createdAt = message.timestamp === null || message.timestamp === undefined ? null : new Date(message.timestamp);
  const role = ROLES[message.role] ?? "system";
  const text = toText(textOf(message), maxCharacters);
  const calls = toolCallsOf(message).map(({ name, id, arguments: input }): HostedEntry => ({
    ...UNKNOWN,
    seq,
    role: "assistant",
    content: toText(JSON.stringify(input ?? {}), maxCharacters),
    tool: { name: toLine(name, MAX_NAME) || "unknown", ...callId(id) },
    createdAt,
  }));
  // A message that only calls tools has no text.
  if (text === "" && calls.length > 0) return calls;
  const tool = role === "tool" ? resultOf(message) : null;
  return [{ ...UNKNOWN, seq, role, content: text, tool, createdAt }, ...calls];
}

function textOf({ content }: GatewayMessage): string {
  if (typeof content === "string") return content;
  const texts = content.map(({ type, text }) => {
    if (type === "text") return text ?? "";
    return type === "image" ? "[image]" : "";
  });
  return texts.filter((text) => text !== "").join("\n");
}

function toolCallsOf({ content }: GatewayMessage) {
  return typeof content === "string" ? [] : content.filter(({ type }) => TOOL_CALLS.has(type));
}

function resultOf({ toolName, toolCallId, isError }: GatewayMessage): HostedEntry["tool"] {
  return { name: toLine(toolName, MAX_NAME) || "unknown", ...callId(toolCallId), is_error: isError === true };
}

function callId(id: string | null | undefined): { call_id?: string } {
  const line = toLine(id, MAX_NAME);
  return line === "" ? {} : { call_id: line };
}
