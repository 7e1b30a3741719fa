import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget, truncateForJson } from "../shared/response-budget.ts";
import { findSession, type ReadSessionsDeps } from "./find-session.ts";
import { type ReadTranscript, selectEntries, toPage, toTool, type TranscriptPage } from "./read-transcript.ts";
import type { EntryRole, EntryTool } from "./transcript-entry.ts";

/** An entry as an agent reads it. */
export interface TranscriptExcerpt {
  seq: number;
  role: EntryRole;
  content: string;
  /** Says how to read more of a content that is cut. */
  note?: string;
  tool?: EntryTool;
  created_at: string;
}

/** What remains for the entries. */
const PAGE_CHARACTERS = RESPONSE_CHARACTERS - 200;
/** What an entry has besides its content. */
const ENTRY_CHARACTERS = 1000;
/** How much of each content is shown at least, however many entries are requested. */
const MIN_CONTENT_CHARACTERS = 2000;

/**
 * Returns the end of a session's transcript, or the entries before a seq, within the size limit of a response: long contents
 * are cut, and the page has fewer entries than `limit` if they do not fit.
 *
 * @throws {ServiceError} `not_found` when the organization, or the server, has no such session
 */
export async function browseTranscript(
  { db }: ReadSessionsDeps,
  caller: Caller,
  request: ReadTranscript,
): Promise<TranscriptPage<TranscriptExcerpt>> {
  const { limit } = request;
  const { id } = await findSession(db, caller, { id: request.session_id, serverId: request.server_id });
  const maxLength = Math.max(MIN_CONTENT_CHARACTERS, Math.floor(PAGE_CHARACTERS / limit) - ENTRY_CHARACTERS);
  const rows = await selectEntries(db, { ...request, session_id: id })
    .select(["seq", "role", "tool_name", "tool_call_id", "tool_is_error", "created_at"])
    .select(({ fn, val }) => [
      // One more, which tells whether the content is cut.
      fn<string>("left", ["content", val(maxLength + 1)]).as("beginning"),
      fn<number>("octet_length", ["content"]).as("bytes"),
    ])
    .execute();
  const excerpts = rows.map(({ beginning, bytes, ...row }): TranscriptExcerpt => {
    const content = truncateForJson(beginning, maxLength);
    const tool = toTool(row);
    return {
      seq: row.seq,
      role: row.role,
      content,
      ...(content !== beginning && { note: describeCut(row.seq, bytes, limit) }),
      ...(tool !== null && { tool }),
      created_at: toIsoTimestamp(row.created_at),
    };
  });
  return toPage(takeWithinBudget(excerpts, PAGE_CHARACTERS));
}

function describeCut(seq: number, bytes: number, limit: number): string {
  const size = `The content is cut. It has ${bytes} bytes.`;
  return limit === 1
    ? `${size} GET /v1/sessions/{id}/transcript returns all of it.`
    : `${size} To read more of it, pass before: ${seq + 1} and limit: 1.`;
}
