import { isRecord } from "../../../shared/json.ts";
import type { EntryRole } from "../../transcript-entry.ts";
import { toJsonText } from "../stringify-json.ts";

/** What a response item says in the conversation. */
export interface ConversationItem {
  role: EntryRole;
  content: string;
  tool?: { name: unknown; callId: unknown; isError?: boolean | undefined };
}

type Item = Record<string, unknown>;

/**
 * Reads an item of the OpenAI Responses API.
 *
 * @returns `null` for an item that says nothing there, such as encrypted reasoning
 */
export function readItem(item: Item): ConversationItem | null {
  switch (item["type"]) {
    case "message":
      return readMessage(item);
    case "reasoning":
      return readReasoning(item);
    case "function_call":
      return toCall(functionName(item), item["call_id"], textOf(item["arguments"]));
    case "custom_tool_call":
      return toCall(item["name"], item["call_id"], textOf(item["input"]));
    case "local_shell_call":
      return toCall("local_shell", item["call_id"] ?? item["id"], toJsonText(item["action"] ?? {}));
    case "web_search_call":
      return toCall("web_search", item["id"], toJsonText(item["action"] ?? {}));
    case "tool_search_call":
      return toCall("tool_search", item["call_id"], textOf(item["arguments"]));
    case "function_call_output":
    case "custom_tool_call_output":
    case "tool_search_output":
      return readOutput(item);
    default:
      return null;
  }
}

function readMessage(item: Item): ConversationItem | null {
  const { role, content } = item;
  const text = textOf(content);
  if (text.trim() === "" || isContext(item, text)) return null;
  return { role: role === "assistant" ? "assistant" : "user", content: text };
}

/** How the texts begin that Codex adds for the model as messages of the user. */
const CONTEXT =
  /^(<(environment_context|user_instructions|INSTRUCTIONS|permissions instructions)>|# AGENTS\.md instructions)/;

/** Whether Codex wrote a message itself: what it repeats at the start of each session is not a part of the conversation. */
function isContext({ role, internal_chat_message_metadata_passthrough: metadata }: Item, text: string): boolean {
  if (role === "developer" || role === "system") return true;
  if (role !== "user") return false;
  const parts = isRecord(metadata) ? metadata["content_item_metadata"] : undefined;
  if (!Array.isArray(parts) || parts.length === 0) return CONTEXT.test(text);
  return parts.every(
    (part) => isRecord(part) && isRecord(part["provenance"]) && part["provenance"]["type"] === "harness",
  );
}

function readReasoning({ summary, content }: Item): ConversationItem | null {
  const text = [summary, content]
    .map(textOf)
    .filter((part) => part !== "")
    .join("\n");
  return text.trim() === "" ? null : { role: "assistant", content: `[thinking]\n${text}` };
}

/** The tools of an MCP server have its namespace. */
function functionName({ name, namespace }: Item): unknown {
  return typeof namespace === "string" && typeof name === "string" ? namespace + name : name;
}

function toCall(name: unknown, callId: unknown, content: string): ConversationItem {
  return { role: "assistant", content, tool: { name, callId } };
}

function readOutput({ call_id: callId, output }: Item): ConversationItem {
  const content = isRecord(output) ? textOf(output["content"]) : textOf(output);
  const isError = isRecord(output) && output["success"] === false ? true : hasFailed(content);
  return { role: "tool", content, tool: { name: undefined, callId, isError } };
}

/** Codex says how a command ended only in the text of its output: in a header, or in older versions in JSON. */
function hasFailed(output: string): boolean | undefined {
  const [header = ""] = output.slice(0, MAX_HEADER).split("\nOutput:\n", 1);
  const found = output.startsWith('{"output":')
    ? /"exit_code":(\d+)/.exec(output.slice(-MAX_HEADER))
    : /^(?:Process exited with code|Exit code:) (\d+)$/m.exec(header);
  return found === null ? undefined : found[1] !== "0";
}

const MAX_HEADER = 300;

/** Returns the text of a string or a list of parts. Media are only named. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (content === null) return "";
  return Array.isArray(content) ? content.map(partText).join("\n") : toJsonText(content);
}

function partText(part: unknown): string {
  if (!isRecord(part)) return toJsonText(part);
  const { type, text } = part;
  if (typeof text === "string") return text;
  return typeof type === "string" && isMedia(type) ? `[${type}]` : toJsonText(part);
}

function isMedia(type: string): boolean {
  return /image|audio|file/.test(type) && /^\w+$/.test(type);
}
