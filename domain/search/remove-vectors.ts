import type { Db } from "../database-types.ts";
import { textArray } from "./text-array.ts";

interface EmbeddedScope {
  id: number;
  /** `null` for a scope that has no vectors. */
  embedding_model: string | null;
}

/** Removes the vectors of texts, or of all texts. The scope must be locked or deleted. */
export async function removeVectors(
  tx: Db,
  { id, embedding_model: model }: EmbeddedScope,
  texts: readonly { indexId: number }[] | "all",
): Promise<void> {
  if (model === null) return;
  const vectors = tx.deleteFrom("search_vectors").where("scope_id", "=", id);
  if (texts === "all") {
    await vectors.execute();
    return;
  }
  const ids = texts.map(({ indexId }) => indexId);
  const rows = tx.selectNoFrom((eb) =>
    eb.cast<number>(eb.fn<string>("unnest", [textArray(eb, ids)]), "integer").as("index_id"),
  );
  await vectors.where("index_id", "in", rows).execute();
}
