import type { Db } from "../database-types.ts";
import { addToIndex, type IndexedText, removeFromIndex } from "../search/index-texts.ts";
import type { Language } from "../search/languages.ts";
import type { ReadTexts } from "../search/update-scopes.ts";
import { categoryOf, type DocumentKind } from "./document-kind.ts";
import { type DocumentOwner, scopeOf } from "./document-owner.ts";
import { splitPassages } from "./split-passages.ts";

/** What the index stores of a document besides its text. */
export interface IndexedDocument {
  id: string;
  title: string;
  /** Absent or `null` for a document without a kind. */
  kind?: DocumentKind | null | undefined;
  language: Language;
}

/** How many passages one statement inserts. */
const ROWS_AT_ONCE = 500;

/** Stores the passages of a document and adds them to the search index, in the transaction of `tx`. */
export async function addPassages(
  tx: Db,
  owner: DocumentOwner,
  document: IndexedDocument,
  content: string,
): Promise<void> {
  const passages = splitPassages(content);
  const scope = scopeOf(owner);
  const indexIds = await addToIndex(
    tx,
    scope,
    passages.map((passage) => toIndexedText(document, passage)),
  );
  const rows = passages.map((passage, ordinal) => ({
    document_id: document.id,
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

/**
 * Removes the passages of a document from the database and from the search index, in the transaction of `tx`.
 *
 * @param document - as it was when the passages were added
 */
export async function removePassages(tx: Db, owner: DocumentOwner, document: IndexedDocument): Promise<void> {
  const rows = await tx
    .deleteFrom("document_passages")
    .where("document_id", "=", document.id)
    .returning(["heading", "content", "index_id"])
    .execute();
  const texts = rows.map((row) => ({ ...toIndexedText(document, row), indexId: row.index_id }));
  await removeFromIndex(tx, scopeOf(owner), texts);
}

/** Reads the passages of an owner as they are indexed. */
export const readPassageTexts: ReadTexts = async (db, { orgId, ownerId }, { from, limit }) => {
  const rows = await db
    .selectFrom("document_passages as passage")
    .innerJoin("documents as document", "document.id", "passage.document_id")
    .select(["passage.index_id", "passage.heading", "passage.content"])
    .select(["document.id", "document.title", "document.kind", "document.language"])
    .where("passage.owner_id", "=", ownerId)
    .where("passage.org_id", "=", orgId)
    .where("passage.index_id", ">=", from)
    .orderBy("passage.index_id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...toIndexedText(row, row), indexId: row.index_id }));
};

function toIndexedText(
  { title, kind, language }: IndexedDocument,
  { heading, content }: { heading: string; content: string },
): IndexedText {
  return { title: `${title}\n${heading}`, body: content, category: categoryOf(kind ?? null), language };
}
