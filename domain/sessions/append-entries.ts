import { checkMayChange } from "../agents/find-agent.ts";
import { queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import { addCountsOfEntries, EntryTotals } from "./count-entries.ts";
import { toRows } from "./entry-rows.ts";
import { lockSession } from "./find-session.ts";
import { findKnownIds, insertRows } from "./insert-rows.ts";
import type { ChangeSessionDeps } from "./open-session.ts";
import { checkEntries, SESSION_LIMITS } from "./session-rules.ts";
import type { SessionRow } from "./session-view.ts";
import type { NewEntry } from "./transcript-entry.ts";

export interface AppendEntries {
  sessionId: string;
  /** At most `SESSION_LIMITS.entriesPerAppend`, in the order of the transcript. */
  entries: readonly NewEntry[];
}

export interface AppendedEntries {
  /** How many of the entries were new. */
  added: number;
  /** The seq of the last entry of the session; 0 when it has none. */
  last_seq: number;
}

/**
 * Appends entries to a session, and adds their tokens to its counters in the same transaction. An entry whose id the session
 * already has is left out, whatever its content is, so a repeated call changes nothing. Calls for one session wait for each
 * other.
 *
 * @throws {ServiceError} `invalid` for an entry that is not allowed; `not_found` when the organization has no such session;
 *   `forbidden` for a gateway token of another agent; `conflict` when the session is closed, or would have too many entries
 */
export async function appendEntries(
  { em: root }: ChangeSessionDeps,
  caller: Caller,
  { sessionId, entries }: AppendEntries,
): Promise<AppendedEntries> {
  checkEntries(entries);
  return inTransaction(root, async (em) => {
    const tx = queryBuilderOf(em);
    const session = await lockSession(tx, caller, sessionId);
    checkMayChange(caller, { id: session.agent_id });
    checkOpen(session);
    const known = session.message_count === 0 ? new Set<string>() : await findKnownIds(tx, sessionId, entries);
    const rows = toRows(session, entries, known);
    const lastSeq = session.message_count + rows.length;
    checkEntryCount(lastSeq);
    if (rows.length > 0) {
      await insertRows(tx, rows);
      await addCountsOfEntries(tx, session, new EntryTotals().add(rows));
    }
    return { added: rows.length, last_seq: lastSeq };
  });
}

/** @throws {ServiceError} `conflict` when the session is closed */
export function checkOpen({ closed_at: closedAt }: Pick<SessionRow, "closed_at">): void {
  if (closedAt === null) return;
  throw new ServiceError("conflict", "The session is closed. Open another session to append entries.");
}

/** @throws {ServiceError} `conflict` for more entries than a session can have */
export function checkEntryCount(count: number): void {
  const { entriesPerSession } = SESSION_LIMITS;
  if (count <= entriesPerSession) return;
  throw new ServiceError(
    "conflict",
    `A session can have at most ${entriesPerSession} entries. Open another session for the further ones.`,
  );
}
