import { isRecord } from "../../../shared/json.ts";
import { toJsonText } from "../stringify-json.ts";

/** A part of a response. */
export interface BlockText {
  content: string;
  tool?: { name: unknown; callId: unknown };
}

/** Reads the blocks of a response that have something to show: texts, visible thinking and calls. */
export function readBlocks(content: unknown): BlockText[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [{ content }];
  return Array.isArray(content) ? content.flatMap(readBlock) : [];
}

function readBlock(block: unknown): BlockText[] {
  if (!isRecord(block)) return [];
  const { type, text, thinking, id: callId, name } = block;
  if (type === "toolCall") return [{ content: toJsonText(block["arguments"] ?? {}), tool: { name, callId } }];
  if (type === "thinking") return isText(thinking) ? [{ content: `[thinking]\n${thinking}` }] : [];
  if (type === "text") return isText(text) ? [{ content: text }] : [];
  return type === "image" ? [{ content: describeImage(block) }] : [];
}

/** Returns the texts of a message or a result. Images are only named. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : toJsonText(content);
  return content.map((block) => (isRecord(block) ? blockText(block) : toJsonText(block))).join("\n");
}

function blockText(block: Record<string, unknown>): string {
  if (block["type"] === "text") return typeof block["text"] === "string" ? block["text"] : "";
  return block["type"] === "image" ? describeImage(block) : toJsonText(block);
}

function describeImage({ mimeType }: Record<string, unknown>): string {
  return typeof mimeType === "string" ? `[image: ${mimeType.slice(0, 100)}]` : "[image]";
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
