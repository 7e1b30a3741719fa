import { isClientId, isToolName, SESSION_LIMITS } from "../session-rules.ts";
import type { EntryRole, EntryUsage, NewEntry } from "../transcript-entry.ts";

/** An entry as a file has it: its texts, time and names may be anything. */
export interface EntryDraft {
  id: string;
  role: EntryRole;
  content: string;
  tool?: { name: unknown; callId: unknown; isError?: boolean | undefined };
  model?: unknown;
  usage?: EntryUsage | undefined;
  time: unknown;
}

/** Names a tool whose name is not known, or cannot be stored. */
const UNKNOWN_TOOL = "unknown";

/** Makes the entries of one transcript, which can be stored whatever the file contains. */
export class EntryBuilder {
  #time: string | undefined;

  build({ id, role, content, tool, model, usage, time }: EntryDraft): NewEntry {
    this.#time = readTime(time) ?? this.#time;
    return {
      id,
      role,
      content: truncateBytes(toStorableText(content), SESSION_LIMITS.contentBytes),
      ...(tool && { tool: { name: readToolName(tool.name), call_id: readId(tool.callId), is_error: tool.isError } }),
      model: readId(model),
      usage,
      created_at: this.#time,
    };
  }
}

/** Returns an id or a name that entries may have; `undefined` for any other value. */
export function readId(value: unknown): string | undefined {
  return typeof value === "string" && isClientId(value) ? value : undefined;
}

/** Returns the id of a record; it leaves room for what entries add to it. */
export function readRecordId(value: unknown): string | undefined {
  const id = readId(value);
  return id !== undefined && id.length <= MAX_RECORD_ID ? id : undefined;
}

const MAX_RECORD_ID = 100;

/** Returns a time in milliseconds as text. @returns `undefined` for a value that is not a time */
export function toTimeText(milliseconds: unknown): string | undefined {
  const time = new Date(typeof milliseconds === "number" ? milliseconds : Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

function readToolName(value: unknown): string {
  return typeof value === "string" && isToolName(value) ? value : UNKNOWN_TOOL;
}

/** @returns `undefined` for a time before 1970, in the future, or that does not exist */
function readTime(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const time = new Date(value);
  return time.getTime() >= 0 && time.getTime() <= Date.now() ? time.toISOString() : undefined;
}

const CUT = "\n[The rest is not imported.]";
const REPLACEMENT = "\uFFFD";

/** Replaces what the database cannot store: NUL characters and unpaired surrogates. */
export function toStorableText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", REPLACEMENT) : wellFormed;
}

/** Cuts a text that has more bytes in UTF-8 than `limit`, at the end of a character, and says so. */
export function truncateBytes(text: string, limit: number): string {
  // A character has at most three bytes for each of its UTF-16 units.
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text.slice(0, limit));
  let end = limit - CUT.length;
  while (isContinuation(bytes.readUInt8(end))) end--;
  return bytes.toString("utf8", 0, end) + CUT;
}

/** Whether a byte is one of a character after its first, which begin with the bits 10. */
function isContinuation(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}
