import type { Db } from "../database-types.ts";
import { ANALYZER_VERSION } from "./analyzer.ts";
import { analyzeText, type AnalyzedText, type IndexedText, languagesIn } from "./indexed-text.ts";
import { languageBits } from "./languages.ts";
import { otherPostingsIdOf, postingsIdOf, type Rebuild, type ScopeSets } from "./index-rebuild.ts";
import { removeVectors } from "./remove-vectors.ts";
import { appendPostings, type NumberedText, removePostings } from "./write-postings.ts";
import type { ScopeKey } from "./search-scope.ts";

export type { IndexedText } from "./indexed-text.ts";

/**
 * Adds texts to a scope within the caller's transaction. Other changes of the scope wait until it ends. Searches find the texts
 * when it is committed.
 *
 * @returns the index ids in the order of the texts, ascending. An id is used once in a scope.
 */
export async function addToIndex(tx: Db, scope: ScopeKey, texts: readonly IndexedText[]): Promise<number[]> {
  if (texts.length === 0) return [];
  const analyzed = await Promise.all(texts.map(analyzeText));
  const row = await reserveIds(tx, scope, texts, analyzed);
  const first = row.next_index_id - texts.length;
  await appendPostings(
    tx,
    postingsIdOf(row),
    analyzed.map((text, index) => ({ ...text, indexId: first + index })),
  );
  return texts.map((_, index) => first + index);
}

/**
 * Removes texts from a scope within the caller's transaction. The texts must be those that were added with the ids. A text that
 * the scope does not contain is ignored.
 */
export async function removeFromIndex(
  tx: Db,
  scope: ScopeKey,
  texts: readonly (IndexedText & { indexId: number })[],
): Promise<void> {
  if (texts.length === 0) return;
  const row = await lockScope(tx, scope);
  if (row === null) return;
  await removeVectors(tx, row, texts);
  const analyzed = await analyzeNumbered(texts);
  const { count, length } = await removeFromSet(tx, postingsIdOf(row), analyzed);
  const rebuild = row.rebuild && (await removeFromRebuild(tx, otherPostingsIdOf(row), row.rebuild, analyzed));
  await tx
    .updateTable("search_scopes")
    .set(({ eb, fn, lit, ref, val, cast }) => ({
      text_count: eb(ref("text_count"), "-", count),
      total_length: eb(ref("total_length"), "-", cast<string>(val(length), "bigint")),
      analyzer_version: fn<number>("least", [ref("analyzer_version"), lit(ANALYZER_VERSION)]),
      rebuild,
    }))
    .where("id", "=", row.id)
    .execute();
}

/** Adds the next texts to a set of postings that is being built. The scope must be locked. */
export async function addToRebuild(
  tx: Db,
  postingsId: number,
  { version, nextIndexId, textCount, totalLength }: Rebuild,
  texts: readonly (IndexedText & { indexId: number })[],
): Promise<Rebuild> {
  const analyzed = await analyzeNumbered(texts);
  await appendPostings(tx, postingsId, analyzed);
  const { count, length } = totalsOf(analyzed);
  return {
    version,
    nextIndexId: (texts.at(-1)?.indexId ?? nextIndexId - 1) + 1,
    textCount: textCount + count,
    totalLength: totalLength + length,
  };
}

function analyzeNumbered(texts: readonly (IndexedText & { indexId: number })[]): Promise<NumberedText[]> {
  return Promise.all(texts.map(async (text) => ({ ...(await analyzeText(text)), indexId: text.indexId })));
}

async function removeFromSet(
  tx: Db,
  postingsId: number,
  texts: readonly NumberedText[],
): Promise<{ count: number; length: number }> {
  const removed = await removePostings(tx, postingsId, texts);
  return totalsOf(texts.filter(({ indexId }) => removed.has(indexId)));
}

/** A removal with an older analyzer can leave postings, so the set has to be built again. */
async function removeFromRebuild(
  tx: Db,
  postingsId: number,
  { version, nextIndexId, textCount, totalLength }: Rebuild,
  texts: readonly NumberedText[],
): Promise<Rebuild> {
  const { count, length } = await removeFromSet(tx, postingsId, texts);
  return {
    version: Math.min(version, ANALYZER_VERSION),
    nextIndexId,
    textCount: textCount - count,
    totalLength: totalLength - length,
  };
}

/** Removes everything of a scope within the caller's transaction. */
export async function dropScope(tx: Db, scope: ScopeKey): Promise<void> {
  const rows = await tx
    .deleteFrom("search_scopes")
    .where("org_id", "=", scope.orgId)
    .where("kind", "=", scope.kind)
    .where("owner_id", "=", scope.ownerId)
    .returning(["id", "embedding_model"])
    .execute();
  for (const row of rows) {
    await removeVectors(tx, row, "all");
    for (const postingsId of [row.id, -row.id])
      await tx.deleteFrom("search_postings").where("scope_id", "=", postingsId).execute();
  }
}

/** Adds the texts to the statistics of the scope, and locks it until the transaction ends. Creates a scope that is missing. */
async function reserveIds(
  tx: Db,
  scope: ScopeKey,
  texts: readonly IndexedText[],
  analyzed: readonly AnalyzedText[],
): Promise<ScopeSets & { next_index_id: number }> {
  const { count, length } = totalsOf(analyzed);
  const update = tx
    .updateTable("search_scopes")
    .set(({ eb, fn, lit, ref }) => ({
      next_index_id: eb(ref("next_index_id"), "+", texts.length),
      text_count: eb(ref("text_count"), "+", count),
      total_length: eb(ref("total_length"), "+", String(length)),
      languages: eb(ref("languages"), "|", languageBits(texts.flatMap(languagesIn))),
      analyzer_version: fn<number>("least", [ref("analyzer_version"), lit(ANALYZER_VERSION)]),
    }))
    .where("org_id", "=", scope.orgId)
    .where("kind", "=", scope.kind)
    .where("owner_id", "=", scope.ownerId)
    .returning(["id", "postings_set", "next_index_id"]);
  for (;;) {
    const row = await update.executeTakeFirst();
    if (row !== undefined) return row;
    // Not before each update: an insert uses up an id even if the row exists.
    await createScope(tx, scope);
  }
}

async function createScope(tx: Db, { orgId, kind, ownerId }: ScopeKey): Promise<void> {
  const empty = {
    next_index_id: 0,
    text_count: 0,
    total_length: "0",
    languages: 0,
    analyzer_version: ANALYZER_VERSION,
  };
  await tx
    .insertInto("search_scopes")
    .values({ org_id: orgId, kind, owner_id: ownerId, ...empty })
    .onConflict((conflict) => conflict.columns(["org_id", "kind", "owner_id"]).doNothing())
    .execute();
}

async function lockScope(
  tx: Db,
  { orgId, kind, ownerId }: ScopeKey,
): Promise<(ScopeSets & { rebuild: Rebuild | null; embedding_model: string | null }) | null> {
  const row = await tx
    .selectFrom("search_scopes")
    .select(["id", "postings_set", "rebuild", "embedding_model"])
    .where("org_id", "=", orgId)
    .where("kind", "=", kind)
    .where("owner_id", "=", ownerId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Adds up texts with words. A text without words has no postings, so it does not count. */
function totalsOf(texts: readonly AnalyzedText[]): { count: number; length: number } {
  const found = texts.filter(({ counts }) => counts.size > 0);
  return { count: found.length, length: found.reduce((sum, { length }) => sum + length, 0) };
}
