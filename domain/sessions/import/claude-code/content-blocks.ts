import { isRecord } from "../../../shared/json.ts";
import { toJsonText } from "../stringify-json.ts";

/** A part of a message of Claude Code, without its role. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "call"; name: unknown; callId: unknown; text: string }
  | { type: "result"; callId: unknown; isError: boolean | undefined; text: string }
  /** Has no text to import, such as the thinking that the model does not show. */
  | { type: "empty" }
  | { type: "unknown"; kind: unknown };

/** Reads the content of a message: a text, or a list of blocks as in the Anthropic Messages API. */
export function readContent(content: unknown): ContentBlock[] {
  if (typeof content === "string") return [textBlock(content)];
  return Array.isArray(content) ? content.map(readBlock) : [];
}

function readBlock(block: unknown): ContentBlock {
  if (!isRecord(block)) return { type: "unknown", kind: undefined };
  const { type } = block;
  const text = readText(block);
  if (text !== null) return text;
  if (type === "redacted_thinking") return { type: "empty" };
  if (typeof type !== "string") return { type: "unknown", kind: undefined };
  // Tools that run elsewhere have types of their own, such as `server_tool_use` and `web_search_tool_result`.
  if (type.endsWith("tool_use"))
    return { type: "call", name: block["name"], callId: block["id"], text: toJsonText(block["input"] ?? {}) };
  if (type.endsWith("tool_result")) return readResult(block);
  return { type: "unknown", kind: type };
}

/** @returns `null` for a block that is neither text nor media */
function readText(block: Record<string, unknown>): ContentBlock | null {
  const { type } = block;
  if (type === "text") return textBlock(block["text"]);
  if (type === "thinking") return textBlock(block["thinking"], "[thinking]\n");
  return type === "image" || type === "document" ? { type: "text", text: describeMedia(block) } : null;
}

function textBlock(text: unknown, prefix = ""): ContentBlock {
  return typeof text === "string" && text.trim() !== "" ? { type: "text", text: prefix + text } : { type: "empty" };
}

function readResult({ tool_use_id: callId, is_error: isError, content }: Record<string, unknown>): ContentBlock {
  const isFlagged = typeof isError === "boolean" ? isError : undefined;
  return { type: "result", callId, isError: isFlagged, text: resultText(content) };
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === null ? "" : toJsonText(content);
  return content.map(partText).join("\n");
}

/** A part of a result is not read as a result: it could contain further ones, nested deeper than the stack allows. */
function partText(block: unknown): string {
  const read = isRecord(block) ? readText(block) : null;
  if (read?.type === "empty") return "";
  return read?.type === "text" ? read.text : toJsonText(block);
}

/** The media itself is not imported. */
function describeMedia({ type, source }: Record<string, unknown>): string {
  const mediaType = isRecord(source) ? source["media_type"] : undefined;
  return typeof mediaType === "string" ? `[${String(type)}: ${mediaType.slice(0, 100)}]` : `[${String(type)}]`;
}
