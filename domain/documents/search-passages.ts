import type { Db } from "../database-types.ts";
import type { Language } from "../search/languages.ts";
import { rankByProximity } from "../search/rank-by-proximity.ts";
import { searchIndex } from "../search/search-index.ts";
import { categoryOf, type DocumentKind } from "./document-kind.ts";
import { type DocumentOwner, scopeOf } from "./document-owner.ts";

/** A passage with words of a query. */
export interface PassageHit {
  documentId: string;
  documentTitle: string;
  kind: DocumentKind | null;
  language: Language;
  /** The headings above the passage. */
  heading: string;
  /** Stands literally in the document. */
  content: string;
  /** Higher is better. Scores of different queries cannot be compared. */
  score: number;
}

export interface SearchPassages {
  text: string;
  /** By default all kinds. */
  kind?: DocumentKind | undefined;
  limit: number;
}

/** How many more passages are compared by how close the words of the query are. */
const CANDIDATES = 3;

/** Searches the documents of an owner. Returns the best passages, the best one first. */
export async function searchPassages(
  db: Db,
  owner: DocumentOwner,
  { text, kind, limit }: SearchPassages,
): Promise<PassageHit[]> {
  const scope = scopeOf(owner);
  const found = await searchIndex(db, scope, {
    text,
    language: "any",
    limit: limit * CANDIDATES,
    typos: true,
    ...(kind !== undefined && { categories: [categoryOf(kind)] }),
  });
  if (found.length === 0) return [];
  const scores = new Map(found.map(({ indexId, score }) => [indexId, score]));
  const passages = await selectPassages(db, owner.orgId, scope.ownerId, [...scores.keys()]);
  const hits = passages.map((row) => ({
    documentId: row.document_id,
    documentTitle: row.title,
    kind: row.kind,
    language: row.language,
    heading: row.heading,
    content: row.content,
    score: scores.get(row.index_id) ?? 0,
    title: `${row.title}\n${row.heading}`,
    body: row.content,
  }));
  const language = hits[0]?.language ?? "english";
  return rankByProximity({ text, language }, hits)
    .slice(0, limit)
    .map(({ title: _title, body: _body, ...hit }) => hit);
}

function selectPassages(db: Db, orgId: string, ownerId: string, indexIds: number[]) {
  return db
    .selectFrom("document_passages as passage")
    .innerJoin("documents as document", "document.id", "passage.document_id")
    .select(["passage.document_id", "passage.heading", "passage.content", "passage.index_id"])
    .select(["document.title", "document.kind", "document.language"])
    .where("passage.owner_id", "=", ownerId)
    .where("passage.index_id", "in", indexIds)
    .where("passage.org_id", "=", orgId)
    .execute();
}
