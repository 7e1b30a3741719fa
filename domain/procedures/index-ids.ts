import type { Db } from "../database-types.ts";
import { textArray } from "../search/text-array.ts";

/** Clears the index ids of the procedures of an app. */
export async function clearIndexIds(tx: Db, appId: string): Promise<void> {
  await tx
    .updateTable("app_procedures")
    .set({ index_id: null })
    .where("app_id", "=", appId)
    .where("index_id", "is not", null)
    .execute();
}

/** Stores the index ids of procedures, in their order. */
export async function storeIndexIds(
  tx: Db,
  procedures: readonly { id: string }[],
  indexIds: readonly number[],
): Promise<void> {
  const pairs = tx.selectNoFrom((eb) => [
    eb
      .cast<string>(
        eb.fn<string>("unnest", [
          textArray(
            eb,
            procedures.map(({ id }) => id),
          ),
        ]),
        "uuid",
      )
      .as("id"),
    eb.cast<number>(eb.fn<string>("unnest", [textArray(eb, indexIds)]), "integer").as("index_id"),
  ]);
  await tx
    .updateTable("app_procedures")
    .from(pairs.as("pair"))
    .set(({ ref }) => ({ index_id: ref("pair.index_id") }))
    .whereRef("app_procedures.id", "=", "pair.id")
    .execute();
}
