import type { Selectable } from "kysely";
import type { DatabaseTables, Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { findSession, type ReadSessionsDeps } from "./find-session.ts";
import type { EntryRole, EntryTool, EntryUsage } from "./transcript-entry.ts";

export interface ReadTranscript {
  session_id: string;
  /** The server of the session, if the caller names one. */
  server_id?: string | undefined;
  /** The maximum number of entries. */
  limit: number;
  /** Only entries before this seq; without it, the end of the transcript is returned. */
  before?: number | undefined;
}

export interface TranscriptEntry {
  seq: number;
  /** The id that the client has given. */
  id: string;
  role: EntryRole;
  content: string;
  tool?: EntryTool;
  model?: string;
  usage?: EntryUsage;
  created_at: string;
}

export interface TranscriptPage<T = TranscriptEntry> {
  /** In the order of the transcript. */
  entries: T[];
  /** Reads the entries before these; `null` at the beginning of the transcript. */
  before: number | null;
}

/** A page ends before the entry with which the content would exceed this size, in bytes, but has at least one entry. */
const PAGE_BYTES = 1_048_576;

/**
 * Returns the end of a session's transcript, or the entries before a seq. A page has at most `limit` entries, and 1 MiB of
 * content.
 *
 * @throws {ServiceError} `not_found` when the organization, or the server, has no such session
 */
export async function readTranscript(
  { db }: ReadSessionsDeps,
  caller: Caller,
  request: ReadTranscript,
): Promise<TranscriptPage> {
  const { id } = await findSession(db, caller, { id: request.session_id, serverId: request.server_id });
  const sizes = await selectEntries(db, { ...request, session_id: id })
    .select(["seq", ({ fn }) => fn<number>("octet_length", ["content"]).as("bytes")])
    .execute();
  const [newest] = sizes;
  if (newest === undefined) return toPage<TranscriptEntry>([]);
  const limit = countWithinSize(sizes.map(({ bytes }) => bytes));
  // Entries that were appended since the first query are not on the page.
  const page = { session_id: id, before: newest.seq + 1, limit };
  return toPage((await selectEntries(db, page).selectAll().execute()).map(toEntry));
}

/** The last entries before a seq, newest first. It reads the primary key backwards, and no more entries than it returns. */
export function selectEntries(db: Db, { session_id: id, before, limit }: Omit<ReadTranscript, "server_id">) {
  return db
    .selectFrom("session_entries")
    .where("session_id", "=", id)
    .$if(before !== undefined, (query) => query.where("seq", "<", Math.min(before ?? 0, MAX_SEQ)))
    .orderBy("seq", "desc")
    .limit(limit);
}

/** More than a session can have. The column has no greater numbers. */
const MAX_SEQ = 2_147_483_647;

function countWithinSize(sizes: readonly number[]): number {
  let total = 0;
  const count = sizes.findIndex((size) => (total += size) > PAGE_BYTES);
  return count === -1 ? sizes.length : Math.max(1, count);
}

/** @param newestFirst - the entries of the page */
export function toPage<T extends { seq: number }>(newestFirst: readonly T[]): TranscriptPage<T> {
  const oldest = newestFirst.at(-1)?.seq ?? 1;
  return { entries: newestFirst.toReversed(), before: oldest > 1 ? oldest : null };
}

type EntryRow = Selectable<DatabaseTables["session_entries"]>;

function toEntry(row: EntryRow): TranscriptEntry {
  const tool = toTool(row);
  const usage = toUsage(row);
  return {
    seq: row.seq,
    id: row.entry_id,
    role: row.role,
    content: row.content,
    ...(tool !== null && { tool }),
    ...(row.model !== null && { model: row.model }),
    ...(usage !== null && { usage }),
    created_at: toIsoTimestamp(row.created_at),
  };
}

export function toTool(row: Pick<EntryRow, "tool_name" | "tool_call_id" | "tool_is_error">): EntryTool | null {
  if (row.tool_name === null) return null;
  return {
    name: row.tool_name,
    ...(row.tool_call_id !== null && { call_id: row.tool_call_id }),
    ...(row.tool_is_error !== null && { is_error: row.tool_is_error }),
  };
}

function toUsage(row: EntryRow): EntryUsage | null {
  if (row.input_tokens === null) return null;
  return {
    input: Number(row.input_tokens),
    output: Number(row.output_tokens),
    cache_read: Number(row.cache_read_tokens),
    cache_write: Number(row.cache_write_tokens),
  };
}
