import type { Db } from "../database-types.ts";
import { loadAnalyzer } from "../search/analyzer.ts";
import { fuseHits } from "../search/fuse-hits.ts";
import type { Language } from "../search/languages.ts";
import { rankByProximity } from "../search/rank-by-proximity.ts";
import { searchByMeaning, type TextSearchDeps } from "../search/search-by-meaning.ts";
import { searchIndexAndWeigh } from "../search/search-index.ts";
import type { WeighedWord } from "../search/weigh-words.ts";
import { categoryOf, type DocumentKind } from "./document-kind.ts";
import { type DocumentOwner, scopeOf } from "./document-owner.ts";
import { languageOf } from "./index-document.ts";

/** A passage with words of a query, or with a similar meaning. */
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
  /** The cosine of the vectors of passage and query; `null` for a passage that was found by its words only. */
  similarity: number | null;
}

export interface SearchPassages {
  text: string;
  /** By default all kinds. */
  kind?: DocumentKind | undefined;
  limit: number;
}

export interface FoundPassages {
  /** The best one first. */
  hits: PassageHit[];
  /** The words of the query, and how much each of them says in the documents of the owner. */
  words: WeighedWord[];
  /** The language of the query. */
  language: Language;
}

/** How many more passages are compared by how close the words of the query are. */
const CANDIDATES = 3;

/** Searches the documents of an owner for the best passages. */
export async function searchPassages(
  deps: TextSearchDeps,
  owner: DocumentOwner,
  { text, kind, limit }: SearchPassages,
): Promise<FoundPassages> {
  const scope = scopeOf(owner);
  const query = {
    text,
    limit: limit * CANDIDATES,
    ...(kind !== undefined && { categories: [categoryOf(kind)] }),
  };
  const [{ hits: byWords, words, language }, byMeaning] = await Promise.all([
    searchIndexAndWeigh(deps.db, scope, {
      ...query,
      language: "detect",
      typos: true,
    }),
    searchByMeaning(deps, scope, query),
  ]);
  const ids = new Set([...byWords, ...byMeaning].map(({ indexId }) => indexId));
  if (ids.size === 0) return { hits: [], words, language };
  const similarities = new Map(byMeaning.map(({ indexId, similarity }) => [indexId, similarity]));
  const passages = await readPassages(deps.db, owner.orgId, scope.ownerId, { ids: [...ids], similarities });
  const found = byWords.flatMap(({ indexId, score }) => {
    const passage = passages.get(indexId);
    return passage === undefined ? [] : [{ ...passage, score }];
  });
  // A passage that is further down by its words may be among the best by its meaning.
  const rankedLimit = byMeaning.length === 0 ? limit : found.length;
  const ranked = found.length === 0 ? [] : rankByProximity({ text, language, limit: rankedLimit }, found);
  const similar = byMeaning.flatMap(({ indexId }) => passages.get(indexId) ?? []);
  const hits = fuseHits(ranked, similar)
    .slice(0, limit)
    .map(({ title: _title, body: _body, indexId: _indexId, ...hit }) => hit);
  return { hits, words, language };
}

interface RankablePassage extends PassageHit {
  indexId: number;
  title: string;
  body: string;
}

/** Reads passages by their index ids, and loads the analyzers of their languages. */
async function readPassages(
  db: Db,
  orgId: string,
  ownerId: string,
  { ids, similarities }: { ids: number[]; similarities: ReadonlyMap<number, number> },
): Promise<Map<number, RankablePassage>> {
  const selected = await selectPassages(db, orgId, ownerId, ids);
  const rows = selected.map((row) => ({ ...row, language: languageOf(row.language, row.stated) }));
  await Promise.all([...new Set(rows.map(({ language }) => language))].map(loadAnalyzer));
  return new Map(
    rows.map((row) => [
      row.index_id,
      {
        indexId: row.index_id,
        documentId: row.document_id,
        documentTitle: row.title,
        kind: row.kind,
        language: row.language,
        heading: row.heading,
        content: row.content,
        score: 0,
        similarity: similarities.get(row.index_id) ?? null,
        title: `${row.title}\n${row.heading}`,
        body: row.content,
      },
    ]),
  );
}

function selectPassages(db: Db, orgId: string, ownerId: string, indexIds: number[]) {
  return db
    .selectFrom("document_passages as passage")
    .innerJoin("documents as document", "document.id", "passage.document_id")
    .select(["passage.document_id", "passage.heading", "passage.content", "passage.index_id", "passage.language"])
    .select(["document.title", "document.kind", "document.language as stated"])
    .where("passage.owner_id", "=", ownerId)
    .where("passage.index_id", "in", indexIds)
    .where("passage.org_id", "=", orgId)
    .execute();
}
