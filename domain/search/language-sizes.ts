import type { Db } from "../database-types.ts";
import type { LanguageSize } from "./encode-texts.ts";

/** Adds texts to what a set of postings has of each language. The scope must be locked. */
export async function addSizes(tx: Db, postingsId: number, sizes: readonly LanguageSize[]): Promise<void> {
  if (sizes.length === 0) return;
  await tx
    .insertInto("search_languages")
    .values(
      sizes.map(({ language, count, length }) => ({
        postings_id: postingsId,
        language,
        text_count: count,
        total_length: String(length),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(["postings_id", "language"]).doUpdateSet(({ eb, ref }) => ({
        text_count: eb(ref("search_languages.text_count"), "+", ref("excluded.text_count")),
        total_length: eb(ref("search_languages.total_length"), "+", ref("excluded.total_length")),
      })),
    )
    .execute();
}

/** Removes texts from what a set of postings has of each language. A language without texts leaves nothing behind. */
export async function subtractSizes(tx: Db, postingsId: number, sizes: readonly LanguageSize[]): Promise<void> {
  for (const { language, count, length } of sizes)
    await tx
      .updateTable("search_languages")
      .set(({ eb, ref, val, cast }) => ({
        text_count: eb(ref("text_count"), "-", count),
        total_length: eb(ref("total_length"), "-", cast<string>(val(length), "bigint")),
      }))
      .where("postings_id", "=", postingsId)
      .where("language", "=", language)
      .execute();
  if (sizes.length === 0) return;
  await tx.deleteFrom("search_languages").where("postings_id", "=", postingsId).where("text_count", "<=", 0).execute();
}

export async function removeSizes(tx: Db, postingsId: number): Promise<void> {
  await tx.deleteFrom("search_languages").where("postings_id", "=", postingsId).execute();
}
