import { isPlainLine } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { checkStorableText } from "../shared/storable-text-rules.ts";
import type { EntryTool, EntryUsage, NewEntry } from "./transcript-entry.ts";

export const SESSION_LIMITS = {
  /** Of the content of an entry in UTF-8. */
  contentBytes: 262_144,
  entriesPerAppend: 1000,
  entriesPerSession: 1_000_000,
  sessionsPerAgent: 100_000,
  titleCharacters: 200,
  /** Of an id of a session or an entry, and of the names of models and tools. */
  idCharacters: 128,
  /** Of each of the four numbers of an entry. With it, the sums of a session are safe integers. */
  tokens: 1_000_000_000,
  /** How far the clock of a client may be ahead. */
  clockSkewMs: 600_000,
} as const;

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** @throws {ServiceError} `invalid` for a title that is not one line of printable text */
export function checkTitle(title: string): void {
  if (isPlainLine(title, SESSION_LIMITS.titleCharacters)) return;
  throw new ServiceError(
    "invalid",
    `title: must be one line of 1 to ${SESSION_LIMITS.titleCharacters} characters without spaces at its ends.`,
  );
}

/** @throws {ServiceError} `invalid` for an id that a client may not give */
export function checkClientId(field: string, id: string): void {
  if (isClientId(id)) return;
  throw new ServiceError(
    "invalid",
    `${field}: must have 1 to ${SESSION_LIMITS.idCharacters} visible ASCII characters.`,
  );
}

export function isClientId(id: string): boolean {
  return id.length <= SESSION_LIMITS.idCharacters && VISIBLE_ASCII.test(id);
}

export function isToolName(name: string): boolean {
  return isPlainLine(name, SESSION_LIMITS.idCharacters);
}

/**
 * Returns a time of a client as a `Date`.
 *
 * @throws {ServiceError} `invalid` for a time before 1970, in the future, or that does not exist
 */
export function checkTime(field: string, text: string): Date {
  const time = new Date(text);
  // A comparison with an invalid date is false.
  if (time.getTime() >= 0 && time.getTime() <= Date.now() + SESSION_LIMITS.clockSkewMs) return time;
  throw new ServiceError("invalid", `${field}: must be a time between 1970 and now.`);
}

/** @throws {ServiceError} `invalid` for the first entry that is not allowed */
export function checkEntries(entries: readonly NewEntry[]): void {
  const { entriesPerAppend } = SESSION_LIMITS;
  if (entries.length === 0 || entries.length > entriesPerAppend)
    throw new ServiceError("invalid", `entries: must have 1 to ${entriesPerAppend} entries.`);
  for (const [index, entry] of entries.entries()) checkEntry(`entries.${index}`, entry);
}

function checkEntry(path: string, { id, role, content, tool, model, usage, created_at: createdAt }: NewEntry): void {
  checkClientId(`${path}.id`, id);
  checkContent(`${path}.content`, content);
  if (tool !== undefined) {
    if (role !== "assistant" && role !== "tool")
      throw new ServiceError("invalid", `${path}.tool: requires the role assistant (a call) or tool (a result).`);
    checkTool(`${path}.tool`, tool);
  }
  if (model !== undefined) checkClientId(`${path}.model`, model);
  if (usage !== undefined) checkUsage(`${path}.usage`, usage);
  if (createdAt !== undefined) checkTime(`${path}.created_at`, createdAt);
}

function checkContent(field: string, content: string): void {
  checkStorableText(field, content);
  const { contentBytes } = SESSION_LIMITS;
  // A character has at most three bytes for each of its UTF-16 units.
  if (content.length * 3 <= contentBytes) return;
  const size = Buffer.byteLength(content);
  if (size > contentBytes)
    throw new ServiceError("invalid", `${field}: has ${size} bytes, and at most ${contentBytes} are allowed.`);
}

function checkTool(field: string, { name, call_id: callId }: EntryTool): void {
  if (!isToolName(name))
    throw new ServiceError(
      "invalid",
      `${field}.name: must be one line of 1 to ${SESSION_LIMITS.idCharacters} characters without spaces at its ends.`,
    );
  if (callId !== undefined) checkClientId(`${field}.call_id`, callId);
}

function checkUsage(field: string, usage: EntryUsage): void {
  for (const [name, value] of Object.entries(usage))
    if (!Number.isInteger(value) || value < 0 || value > SESSION_LIMITS.tokens)
      throw new ServiceError("invalid", `${field}.${name}: must be an integer from 0 to ${SESSION_LIMITS.tokens}.`);
}
