import type { Db } from "../database-types.ts";
import type { TextRemoval } from "../search/encode-texts.ts";
import { addEncodedTexts, removePlannedTexts } from "../search/index-texts.ts";
import type { Language } from "../search/languages.ts";
import type { ReadTexts } from "../search/update-scopes.ts";
import { type DocumentOwner, scopeOf } from "./document-owner.ts";
import { type IndexedPassages, languageOf, type StoredPassage, toIndexedText } from "./index-document.ts";
import { type DocumentLanguage, findLanguages } from "./passage-languages.ts";

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
    language: passage.language,
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
    .select(["heading", "content", "language", "index_id"])
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

/** Reads the passages of an owner as they are indexed. Passages of earlier releases get their language. */
export const readPassageTexts: ReadTexts = async (db, { orgId, ownerId }, { from, limit }) => {
  const rows = await db
    .selectFrom("document_passages as passage")
    .innerJoin("documents as document", "document.id", "passage.document_id")
    .select(["passage.document_id", "passage.index_id", "passage.heading", "passage.content", "passage.language"])
    .select(["document.title", "document.kind", "document.language as stated"])
    .where("passage.owner_id", "=", ownerId)
    .where("passage.org_id", "=", orgId)
    .where("passage.index_id", ">=", from)
    .orderBy("passage.index_id")
    .limit(limit)
    .execute();
  const detected = await detectMissing(rows);
  for (const [language, indexIds] of Map.groupBy(detected.keys(), (indexId) => detected.get(indexId) ?? "english"))
    await db
      .updateTable("document_passages")
      .set({ language })
      .where("owner_id", "=", ownerId)
      .where("index_id", "in", indexIds)
      .execute();
  return rows.map((row) => {
    const language = languageOf(row.language ?? detected.get(row.index_id) ?? null, row.stated);
    return { ...toIndexedText(row, { ...row, language }), indexId: row.index_id };
  });
};

interface PassageRow {
  document_id: string;
  index_id: number;
  heading: string;
  content: string;
  language: Language | null;
  stated: DocumentLanguage;
}

/** Returns the languages of passages without one, by their index ids. */
async function detectMissing(rows: readonly PassageRow[]): Promise<Map<number, Language>> {
  const missing = rows.filter(({ language }) => language === null);
  const detected = new Map<number, Language>();
  for (const ofDocument of Map.groupBy(missing, (row) => row.document_id).values()) {
    const languages = await findLanguages(ofDocument[0]?.stated ?? "auto", ofDocument);
    for (const [index, row] of ofDocument.entries()) detected.set(row.index_id, languages[index] ?? "english");
  }
  return detected;
}
