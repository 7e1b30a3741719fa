import { isRecord } from "../../../shared/json.ts";
import type { EntryRole } from "../../transcript-entry.ts";

export interface TranscriptEvent {
  role: EntryRole;
  /** A text or blocks, as the content of a message. */
  content: unknown;
}

/**
 * Reads what a record beside the messages says in the conversation: a compaction, an error of the API, a message that the user
 * wrote while Claude Code worked.
 *
 * @returns `null` for a record that says nothing there
 */
export function describeEvent(value: Record<string, unknown>): TranscriptEvent | null {
  const { type, content, error, attachment } = value;
  if (type === "system" && typeof content === "string" && content.trim() !== "") return { role: "system", content };
  if (type === "system" && value["subtype"] === "api_error") return { role: "system", content: describeError(error) };
  if (type === "attachment" && isRecord(attachment) && attachment["type"] === "queued_command")
    return { role: "user", content: attachment["prompt"] };
  return null;
}

function describeError(error: unknown): string {
  const message = isRecord(error) ? (error["formatted"] ?? error["message"]) : undefined;
  return typeof message === "string" ? `API error: ${message}` : "API error";
}
