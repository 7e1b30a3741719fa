import type { Db } from "../database-types.ts";
import { ANALYZER_VERSION } from "./analyzer.ts";
import { analyzeText, type AnalyzedText, type IndexedText } from "./indexed-text.ts";
import { languageBits } from "./languages.ts";
import { appendPostings, removePostings } from "./stored-postings.ts";
import type { ScopeKey } from "./search-scope.ts";
import { textArray } from "./text-array.ts";

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
  const { id, next_index_id: next } = await reserveIds(tx, scope, texts, analyzed);
  const first = next - texts.length;
  await appendPostings(
    tx,
    id,
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
  const locked = await lockScope(tx, scope);
  if (locked === null) return;
  const { id } = locked;
  if (locked.embedding_model !== null) await removeVectors(tx, id, texts);
  const analyzed = await Promise.all(
    texts.map(async (text) => ({ ...(await analyzeText(text)), indexId: text.indexId })),
  );
  const removed = await removePostings(tx, id, analyzed);
  const { count, length } = totalsOf(analyzed.filter(({ indexId }) => removed.has(indexId)));
  await tx
    .updateTable("search_scopes")
    .set(({ eb, ref, val, cast }) => ({
      text_count: eb(ref("text_count"), "-", count),
      total_length: eb(ref("total_length"), "-", cast<string>(val(length), "bigint")),
    }))
    .where("id", "=", id)
    .execute();
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
  for (const { id, embedding_model: model } of rows)
    if (model !== null) await tx.deleteFrom("search_vectors").where("scope_id", "=", id).execute();
  for (const { id } of rows) await tx.deleteFrom("search_postings").where("scope_id", "=", id).execute();
}

/** Adds the texts to the statistics of the scope, and locks it until the transaction ends. */
function reserveIds(
  tx: Db,
  { orgId, kind, ownerId }: ScopeKey,
  texts: readonly IndexedText[],
  analyzed: readonly AnalyzedText[],
): Promise<{ id: number; next_index_id: number }> {
  const { count, length } = totalsOf(analyzed);
  return tx
    .insertInto("search_scopes")
    .values({
      org_id: orgId,
      kind,
      owner_id: ownerId,
      next_index_id: texts.length,
      text_count: count,
      total_length: String(length),
      languages: languageBits(new Set(texts.map(({ language }) => language))),
      analyzer_version: ANALYZER_VERSION,
    })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "kind", "owner_id"]).doUpdateSet(({ eb, ref }) => ({
        next_index_id: eb(ref("search_scopes.next_index_id"), "+", ref("excluded.next_index_id")),
        text_count: eb(ref("search_scopes.text_count"), "+", ref("excluded.text_count")),
        total_length: eb(ref("search_scopes.total_length"), "+", ref("excluded.total_length")),
        languages: eb(ref("search_scopes.languages"), "|", ref("excluded.languages")),
      })),
    )
    .returning(["id", "next_index_id"])
    .executeTakeFirstOrThrow();
}

async function lockScope(
  tx: Db,
  { orgId, kind, ownerId }: ScopeKey,
): Promise<{ id: number; embedding_model: string | null } | null> {
  const row = await tx
    .selectFrom("search_scopes")
    .select(["id", "embedding_model"])
    .where("org_id", "=", orgId)
    .where("kind", "=", kind)
    .where("owner_id", "=", ownerId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

async function removeVectors(tx: Db, scopeId: number, texts: readonly { indexId: number }[]): Promise<void> {
  const indexIds = texts.map(({ indexId }) => indexId);
  await tx
    .deleteFrom("search_vectors")
    .where("scope_id", "=", scopeId)
    .where(({ eb }) =>
      eb(
        "index_id",
        "in",
        tx.selectNoFrom((part) =>
          part.cast<number>(part.fn<string>("unnest", [textArray(part, indexIds)]), "integer").as("index_id"),
        ),
      ),
    )
    .execute();
}

/** A text without words has no postings, so it does not count. */
function totalsOf(texts: readonly AnalyzedText[]): { count: number; length: number } {
  const found = texts.filter(({ counts }) => counts.size > 0);
  return { count: found.length, length: found.reduce((sum, { length }) => sum + length, 0) };
}
