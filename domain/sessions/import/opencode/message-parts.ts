import { isRecord } from "../../../shared/json.ts";
import type { EntryRole } from "../../transcript-entry.ts";
import { toTimeText } from "../entry-builder.ts";
import { toJsonText } from "../stringify-json.ts";

/** What a part of a message says in the conversation. */
export interface PartText {
  content: string;
  /** By default, the role of the message. */
  role?: EntryRole;
  /** Follows the id of the part in the id of the entry. */
  suffix?: string;
  tool?: { name: unknown; callId: unknown; isError?: boolean };
  time?: string | undefined;
}

type Fields = Record<string, unknown>;

/** Reads a part. @returns an empty list for a part that says nothing, such as a snapshot of the files */
export function readPart(part: Fields): PartText[] {
  const { type, text, synthetic, ignored } = part;
  switch (type) {
    case "text":
      if (ignored === true) return [];
      return toText(text, synthetic === true ? "system" : undefined);
    case "reasoning":
      return toText(text).map((read) => ({ ...read, content: `[thinking]\n${read.content}` }));
    case "tool":
      return readTool(part);
    case "file":
      return [{ content: `[file: ${describeFile(part)}]` }];
    case "subtask":
      return [{ content: `Subtask for ${nameOf(part["agent"])}: ${nameOf(part["description"])}`, role: "system" }];
    case "compaction":
      return [{ content: "Context compacted", role: "system" }];
    case "retry":
      return [{ content: `Retry after an error: ${describeRetry(part["error"])}`, role: "system" }];
    default:
      return [];
  }
}

function toText(text: unknown, role?: EntryRole): PartText[] {
  return typeof text === "string" && text.trim() !== "" ? [{ content: text, ...(role && { role }) }] : [];
}

/** A call, and its result if it has ended. */
function readTool({ tool: name, callID: callId, state }: Fields): PartText[] {
  const { status, input, output, error, metadata, time } = isRecord(state) ? state : {};
  const { start, end } = isRecord(time) ? time : {};
  const call: PartText = {
    content: toJsonText(input ?? {}),
    role: "assistant",
    suffix: ".call",
    tool: { name, callId },
    time: toTimeText(start),
  };
  if (status !== "completed" && status !== "error") return [call];
  const exitCode = isRecord(metadata) ? metadata["exit"] : undefined;
  const isError = status === "error" || (typeof exitCode === "number" && exitCode !== 0);
  const text = status === "error" ? error : output;
  const content = typeof text === "string" ? text : toJsonText(text ?? "");
  return [call, { content, role: "tool", suffix: ".result", tool: { name, callId, isError }, time: toTimeText(end) }];
}

function describeFile({ filename, mime, url }: Fields): string {
  const name = typeof filename === "string" ? filename : undefined;
  const address = typeof url === "string" && !url.startsWith("data:") ? url : undefined;
  return (name ?? address ?? nameOf(mime)).slice(0, 300);
}

function describeRetry(error: unknown): string {
  const { data, message } = isRecord(error) ? error : {};
  const text = isRecord(data) ? data["message"] : message;
  return typeof text === "string" ? text : "unknown";
}

function nameOf(value: unknown): string {
  return typeof value === "string" ? value : "unknown";
}
