import type { Db } from "../database-types.ts";

/** A request removes up to 150,000 entries, and leaves more to the sweep. */
export const BATCHES_OF_REQUEST = 15;

/**
 * Deletes sessions in the transaction of `tx`. Nothing finds their entries any more, which can be too many for one
 * transaction: call `removeDeletedEntries` after it. The rows of the agents or sessions must be locked or deleted, so that
 * nothing is added meanwhile.
 */
export async function deleteSessions(tx: Db, column: "id" | "agent_id", ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .with("deleted", (db) => db.deleteFrom("sessions").where(column, "in", ids).returning("id"))
    .insertInto("deleted_sessions")
    .columns(["id", "deleted_at"])
    .expression(({ selectFrom, val }) => selectFrom("deleted").select(["id", val(new Date()).as("deleted_at")]))
    .execute();
}

/** Sessions and entries per transaction. */
const SESSIONS = 100;
const ENTRIES = 10_000;

/**
 * Removes the entries of deleted sessions, at most 10,000 in each of `maxBatches` transactions. The next sweep continues.
 * Several processes may do so at the same time.
 *
 * @returns how many entries were removed
 */
export async function removeDeletedEntries(db: Db, { maxBatches }: { maxBatches: number }): Promise<number> {
  let removed = 0;
  for (let batch = 0; batch < maxBatches; batch++) {
    const count = await db.transaction().execute(removeBatch);
    if (count === null) break;
    removed += count;
  }
  return removed;
}

/** @returns `null` when there are no deleted sessions, or other processes are removing their entries */
async function removeBatch(tx: Db): Promise<number | null> {
  const sessions = await tx
    .selectFrom("deleted_sessions")
    .select("id")
    .limit(SESSIONS)
    .forUpdate()
    .skipLocked()
    .execute();
  if (sessions.length === 0) return null;
  const ids = sessions.map(({ id }) => id);
  const { numDeletedRows } = await tx
    .deleteFrom("session_entries")
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple("session_id", "seq"),
        "in",
        selectFrom("session_entries as old")
          .select(["old.session_id", "old.seq"])
          .where("old.session_id", "in", ids)
          .limit(ENTRIES)
          .$asTuple("session_id", "seq"),
      ),
    )
    .executeTakeFirstOrThrow();
  await tx
    .deleteFrom("deleted_sessions")
    .where("id", "in", ids)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom("session_entries")
            .select("seq")
            .whereRef("session_entries.session_id", "=", "deleted_sessions.id"),
        ),
      ),
    )
    .execute();
  return Number(numDeletedRows);
}
