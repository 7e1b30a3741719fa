import type { Db } from "../database-types.ts";
import type { NewRow } from "./entry-rows.ts";
import type { NewEntry } from "./transcript-entry.ts";

/** Finds which of the ids of entries a session has already. */
export async function findKnownIds(
  tx: Db,
  sessionId: string,
  entries: readonly NewEntry[],
): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom("session_entries")
    .select("entry_id")
    .where("session_id", "=", sessionId)
    .where(
      "entry_id",
      "in",
      entries.map(({ id }) => id),
    )
    .execute();
  return new Set(rows.map(({ entry_id: id }) => id));
}

export async function insertRows(tx: Db, rows: readonly NewRow[]): Promise<void> {
  await tx.insertInto("session_entries").values(rows).execute();
}
