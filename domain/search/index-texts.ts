import type { Db } from "../database-types.ts";
import { ANALYZER_VERSION } from "./analyzer.ts";
import {
  type EncodedTexts,
  encodeTexts,
  type NumberedText,
  planRemoval,
  sizeByLanguage,
  type TextRemoval,
} from "./encode-texts.ts";
import type { IndexedText } from "./indexed-text.ts";
import { otherPostingsIdOf, postingsIdOf, type Rebuild, type ScopeSets } from "./index-rebuild.ts";
import { addSizes, removeSizes, subtractSizes } from "./language-sizes.ts";
import { removeVectors } from "./remove-vectors.ts";
import { appendPostings, removePostings } from "./write-postings.ts";
import type { ScopeKey } from "./search-scope.ts";

export type { IndexedText } from "./indexed-text.ts";

/**
 * Adds texts to a scope within the caller's transaction. Other changes of the scope wait until it ends. Searches find the texts
 * when it is committed.
 *
 * @returns the index ids in the order of the texts, ascending. An id is used once in a scope.
 */
export async function addToIndex(tx: Db, scope: ScopeKey, texts: readonly IndexedText[]): Promise<number[]> {
  return texts.length === 0 ? [] : addEncodedTexts(tx, scope, await encodeTexts(texts));
}

/** Adds texts as `addToIndex` does, which a worker thread has encoded. */
export async function addEncodedTexts(tx: Db, scope: ScopeKey, encoded: EncodedTexts): Promise<number[]> {
  if (encoded.size === 0) return [];
  const row = await reserveIds(tx, scope, encoded);
  const first = row.next_index_id - encoded.size;
  const ids = Array.from({ length: encoded.size }, (_, index) => first + index);
  await addSizes(tx, postingsIdOf(row), encoded.languages);
  await appendPostings(tx, postingsIdOf(row), ids, encoded);
  return ids;
}

/**
 * Removes texts from a scope within the caller's transaction. The texts must be those that were added with the ids. A text that
 * the scope does not contain is ignored.
 */
export async function removeFromIndex(tx: Db, scope: ScopeKey, texts: readonly NumberedText[]): Promise<void> {
  if (texts.length > 0) await removePlannedTexts(tx, scope, await planRemoval(texts));
}

/** Removes texts as `removeFromIndex` does, whose removal a worker thread has planned. */
export async function removePlannedTexts(tx: Db, scope: ScopeKey, removal: TextRemoval): Promise<void> {
  if (removal.texts.length === 0) return;
  const row = await lockScope(tx, scope);
  if (row === null) return;
  await removeVectors(tx, row, removal.texts);
  const { count, length } = await removeFromSet(tx, postingsIdOf(row), removal);
  const rebuild = row.rebuild && (await removeFromRebuild(tx, otherPostingsIdOf(row), row.rebuild, removal));
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
  texts: readonly NumberedText[],
): Promise<Rebuild> {
  const encoded = await encodeTexts(texts);
  const ids = texts.map(({ indexId }) => indexId);
  await addSizes(tx, postingsId, encoded.languages);
  await appendPostings(tx, postingsId, ids, encoded);
  return {
    version,
    nextIndexId: (ids.at(-1) ?? nextIndexId - 1) + 1,
    textCount: textCount + encoded.count,
    totalLength: totalLength + encoded.length,
  };
}

async function removeFromSet(
  tx: Db,
  postingsId: number,
  removal: TextRemoval,
): Promise<{ count: number; length: number }> {
  const removed = await removePostings(tx, postingsId, removal);
  const found = removal.texts.filter(({ indexId }) => removed.has(indexId));
  await subtractSizes(tx, postingsId, sizeByLanguage(found));
  return { count: found.length, length: found.reduce((sum, { length }) => sum + length, 0) };
}

/** A removal with an older analyzer can leave postings, so the set has to be built again. */
async function removeFromRebuild(
  tx: Db,
  postingsId: number,
  { version, nextIndexId, textCount, totalLength }: Rebuild,
  removal: TextRemoval,
): Promise<Rebuild> {
  const { count, length } = await removeFromSet(tx, postingsId, removal);
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
    for (const postingsId of [row.id, -row.id]) {
      await tx.deleteFrom("search_postings").where("scope_id", "=", postingsId).execute();
      await removeSizes(tx, postingsId);
    }
  }
}

/** Adds the texts to the statistics of the scope, and locks it until the transaction ends. Creates a scope that is missing. */
async function reserveIds(
  tx: Db,
  scope: ScopeKey,
  { size, count, length }: EncodedTexts,
): Promise<ScopeSets & { next_index_id: number }> {
  const update = tx
    .updateTable("search_scopes")
    .set(({ eb, fn, lit, ref }) => ({
      next_index_id: eb(ref("next_index_id"), "+", size),
      text_count: eb(ref("text_count"), "+", count),
      total_length: eb(ref("total_length"), "+", String(length)),
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
