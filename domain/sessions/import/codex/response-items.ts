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
      return toCall(functionName(item), item["call_id"], textOf(item["input"]));
    case "local_shell_call":
      return toCall("local_shell", item["call_id"] ?? item["id"], toJsonText(item["action"] ?? {}));
    case "web_search_call":
      return toCall("web_search", item["id"], toJsonText(item["action"] ?? {}));
    case "image_generation_call":
      return toCall("image_generation", item["id"], textOf(item["revised_prompt"] ?? null));
    case "tool_search_call":
      return toCall("tool_search", item["call_id"], textOf(item["arguments"]));
    case "function_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
    case "mcp_tool_call_output":
      return readOutput(item, item["output"]);
    case "tool_search_output":
      return readOutput(item, item["output"] ?? item["tools"]);
    case "agent_message":
      return readAgentMessage(item);
    default:
      return null;
  }
}

function readMessage(item: Item): ConversationItem | null {
  const { role, content } = item;
  if (role === "developer" || role === "system") return null;
  if (role === "assistant") return toMessage("assistant", textOf(content));
  if (role === "user" && isOfHarness(item)) return null;
  const kinds = readPassthrough(item, "content_item_kinds");
  const isMarked = Array.isArray(content) && kinds.length > 0 && kinds.length === content.length;
  if (isMarked) return toMessage("user", textOf(content.filter((_, at) => isUserKind(kinds[at]))));
  const text = textOf(content);
  const isMarkedByParts = readPassthrough(item, "content_item_metadata").length > 0;
  return role === "user" && !isMarkedByParts && CONTEXT.test(text) ? null : toMessage("user", text);
}

function toMessage(role: EntryRole, content: string): ConversationItem | null {
  return content.trim() === "" ? null : { role, content };
}

/** How the texts begin that Codex adds for the model as messages of the user, in versions that do not say which they are. */
const CONTEXT =
  /^\s*(<(environment_context|user_instructions|INSTRUCTIONS|permissions instructions|skill|turn_aborted|subagent_notification|recommended_plugins|goal_context)>|<(codex_internal_context|hook_prompt) |# AGENTS\.md instructions)/;

/** Whether Codex wrote a message itself: what it repeats at the start of each session is not a part of the conversation. */
function isOfHarness(item: Item): boolean {
  const parts = readPassthrough(item, "content_item_metadata");
  if (parts.length === 0) return false;
  return parts.every(
    (part) => isRecord(part) && isRecord(part["provenance"]) && part["provenance"]["type"] === "harness",
  );
}

/** What Codex says about each part of a message. */
function readPassthrough({ internal_chat_message_metadata_passthrough: metadata }: Item, key: string): unknown[] {
  const parts = isRecord(metadata) ? metadata[key] : undefined;
  return Array.isArray(parts) ? parts : [];
}

/** A part of an unknown kind, and the text in place of a media file that could not be sent, are the user's. */
const USER_KIND = /^(|unknown|user\..*|(images|audio)\.(preparation_error|unsupported))$/;

function isUserKind(kind: unknown): boolean {
  return typeof kind !== "string" || USER_KIND.test(kind);
}

/** A message between agents. */
function readAgentMessage({ author, recipient, content }: Item): ConversationItem | null {
  const text = textOf(content);
  if (text.trim() === "") return null;
  const [from, to] = [author, recipient].map((name) => (typeof name === "string" ? name : "an agent"));
  return { role: "system", content: `Message from ${from} to ${to}\n${text}` };
}

function readReasoning({ summary, content }: Item): ConversationItem | null {
  const text = [summary, content]
    .map(textOf)
    .filter((part) => part !== "")
    .join("\n");
  return text.trim() === "" ? null : { role: "assistant", content: `[thinking]\n${text}` };
}

/** The tools of an MCP server have its namespace: `mcp__server` or, in older versions, `mcp__server__`. */
function functionName({ name, namespace }: Item): unknown {
  if (typeof namespace !== "string" || typeof name !== "string" || namespace === "") return name;
  return namespace.endsWith("__") ? namespace + name : `${namespace}__${name}`;
}

function toCall(name: unknown, callId: unknown, content: string): ConversationItem {
  return { role: "assistant", content, tool: { name, callId } };
}

function readOutput({ call_id: callId, id, status }: Item, output: unknown): ConversationItem {
  const content = isRecord(output) ? textOf(output["content"]) : textOf(output);
  const isMarked = status === "failed" || (isRecord(output) && output["success"] === false);
  const isError = isMarked ? true : hasFailed(content);
  return { role: "tool", content, tool: { name: undefined, callId: callId ?? id, isError } };
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
