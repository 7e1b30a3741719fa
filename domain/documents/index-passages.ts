import type { Db } from "../database-types.ts";
import type { TextRemoval } from "../search/encode-texts.ts";
import { addEncodedTexts, removePlannedTexts } from "../search/index-texts.ts";
import type { ReadTexts } from "../search/update-scopes.ts";
import { type DocumentOwner, scopeOf } from "./document-owner.ts";
import { type IndexedPassages, type StoredPassage, toIndexedText } from "./index-document.ts";

/** How many passages one statement inserts. */
const ROWS_AT_ONCE = 500;

/** Stores the passages of a document and adds them to the search index, in the transaction of `tx`. */
export async function addPassages(
  tx: Db,
  owner: DocumentOwner,
  documentId: string,
  { passages, texts }: IndexedPassages,
): Promise<void> {
  const scope = scopeOf(owner);
  const indexIds = await addEncodedTexts(tx, scope, texts);
  const rows = passages.map((passage, ordinal) => ({
    document_id: documentId,
    ordinal,
    org_id: owner.orgId,
    owner_id: scope.ownerId,
    heading: passage.heading,
    content: passage.content,
    start_offset: passage.start,
    end_offset: passage.end,
    index_id: indexIds[ordinal] ?? 0,
  }));
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE)
    await tx
      .insertInto("document_passages")
      .values(rows.slice(start, start + ROWS_AT_ONCE))
      .execute();
}

export function readStoredPassages(db: Db, documentId: string): Promise<StoredPassage[]> {
  return db
    .selectFrom("document_passages")
    .select(["heading", "content", "index_id"])
    .where("document_id", "=", documentId)
    .orderBy("index_id")
    .execute();
}

/**
 * Removes the passages of a document from the database and from the search index, in the transaction of `tx`.
 *
 * @param removal - of all passages of the document
 */
export async function removePassages(
  tx: Db,
  owner: DocumentOwner,
  documentId: string,
  removal: TextRemoval,
): Promise<void> {
  await tx.deleteFrom("document_passages").where("document_id", "=", documentId).execute();
  await removePlannedTexts(tx, scopeOf(owner), removal);
}

/** Reads the passages of an owner as they are indexed. */
export const readPassageTexts: ReadTexts = async (db, { orgId, ownerId }, { from, limit }) => {
  const rows = await db
    .selectFrom("document_passages as passage")
    .innerJoin("documents as document", "document.id", "passage.document_id")
    .select(["passage.index_id", "passage.heading", "passage.content"])
    .select(["document.title", "document.kind", "document.language"])
    .where("passage.owner_id", "=", ownerId)
    .where("passage.org_id", "=", orgId)
    .where("passage.index_id", ">=", from)
    .orderBy("passage.index_id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...toIndexedText(row, row), indexId: row.index_id }));
};
