import type { Selectable } from "kysely";
import type { DatabaseTables, Db } from "../database-types.ts";
import {
  AgentHostError,
  type HostedEntry,
  type HostedTranscript,
  type ReadTranscript as ReadHostedTranscript,
} from "../ports/agent-host.ts";
import { isUuid } from "../shared/ids.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";

/** A page ends before the entry with which the contents would exceed this size, in bytes, but has at least one entry. */
const PAGE_BYTES = 1_048_576;
/** More than a session can have. The column has no greater numbers. */
const MAX_SEQ = 2_147_483_647;

/**
 * Reads the end of a stored transcript, or the entries before a seq, as the host of the server.
 *
 * @throws {AgentHostError} `not_found` when the server has no such session
 */
export async function readStoredTranscript(
  db: Db,
  server: { id: string; orgId: string },
  { sessionId, limit, before, maxCharacters }: ReadHostedTranscript,
): Promise<HostedTranscript> {
  await checkSession(db, server, sessionId);
  const page = { sessionId, before, limit };
  // A character has at most four bytes.
  const isSmall = limit * maxCharacters * 4 <= PAGE_BYTES;
  const fitting = isSmall ? page : await countWithinSize(db, page, maxCharacters);
  const rows = await selectEntries(db, fitting)
    .select(["seq", "entry_id", "role", "tool_name", "tool_call_id", "tool_is_error", "model", "created_at"])
    .select(["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"])
    .select(({ fn, val }) => [
      fn<string>("left", ["content", val(maxCharacters)]).as("content"),
      fn<number>("octet_length", ["content"]).as("bytes"),
    ])
    .execute();
  return { entries: rows.map(toHostedEntry), hasMore: (rows.at(-1)?.seq ?? 1) > 1 };
}

async function checkSession(db: Db, { id: serverId, orgId }: { id: string; orgId: string }, id: string): Promise<void> {
  const select = db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .where("server_id", "=", serverId);
  // A malformed id gets the same response as an unknown one.
  const found = isUuid(id) ? await select.executeTakeFirst() : undefined;
  if (found === undefined) throw new AgentHostError("not_found", "The server has no such session.");
}

interface EntryPage {
  sessionId: string;
  before: number | undefined;
  limit: number;
}

/** The last entries before a seq, newest first. It reads the primary key backwards, and no more entries than it returns. */
function selectEntries(db: Db, { sessionId, before, limit }: EntryPage) {
  return db
    .selectFrom("session_entries")
    .where("session_id", "=", sessionId)
    .$if(before !== undefined, (query) => query.where("seq", "<", Math.min(before ?? 0, MAX_SEQ)))
    .orderBy("seq", "desc")
    .limit(limit);
}

/** Shortens a page so that its contents fit. Entries that are appended meanwhile are not on it. */
async function countWithinSize(db: Db, page: EntryPage, maxCharacters: number): Promise<EntryPage> {
  const sizes = await selectEntries(db, page)
    .select(["seq", ({ fn }) => fn<number>("octet_length", ["content"]).as("bytes")])
    .execute();
  let total = 0;
  const count = sizes.findIndex(({ bytes }) => (total += Math.min(bytes, maxCharacters * 4)) > PAGE_BYTES);
  const [newest] = sizes;
  return {
    ...page,
    before: newest === undefined ? page.before : newest.seq + 1,
    limit: count === -1 ? page.limit : Math.max(1, count),
  };
}

type EntryRow = Omit<Selectable<DatabaseTables["session_entries"]>, "session_id" | "server_id"> & { bytes: number };

function toHostedEntry(row: EntryRow): HostedEntry {
  return {
    seq: row.seq,
    id: row.entry_id,
    role: row.role,
    content: row.content,
    bytes: row.bytes,
    tool: toTool(row),
    model: row.model,
    usage: toUsage(row),
    createdAt: new Date(toIsoTimestamp(row.created_at)),
  };
}

function toTool(row: EntryRow): HostedEntry["tool"] {
  if (row.tool_name === null) return null;
  return {
    name: row.tool_name,
    ...(row.tool_call_id !== null && { call_id: row.tool_call_id }),
    ...(row.tool_is_error !== null && { is_error: row.tool_is_error }),
  };
}

function toUsage(row: EntryRow): HostedEntry["usage"] {
  if (row.input_tokens === null) return null;
  return {
    input: Number(row.input_tokens),
    output: Number(row.output_tokens),
    cache_read: Number(row.cache_read_tokens),
    cache_write: Number(row.cache_write_tokens),
  };
}
