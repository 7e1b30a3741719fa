import type { Db } from "../database-types.ts";
import { findSimilar } from "./find-terms.ts";
import { type QueryWord, readQueryWords } from "./query-words.ts";
import { inverseDocumentFrequency } from "./ranking.ts";
import { readCounts } from "./read-postings.ts";
import { readStatistics } from "./scope-statistics.ts";
import type { ScopeKey } from "./search-scope.ts";

/** A word of a query, and how much it says in a scope. */
export interface WeighedWord {
  /** As the caller wrote it, without case and diacritics. */
  text: string;
  /** The terms that stand for it in the index. If no text has the word, those of similar words too. */
  terms: ReadonlySet<string>;
  /** Its inverse document frequency: the rarer, the higher. A word that no text has gets the highest weight. */
  weight: number;
}

/** Returns the words of a query that are no stop words, with their weights in a scope; none for an empty scope. */
export async function weighWords(db: Db, scope: ScopeKey, text: string): Promise<WeighedWord[]> {
  const statistics = await readStatistics(db, scope);
  if (statistics === null) return [];
  const words = await readQueryWords(text, statistics.languages);
  if (words.length === 0) return [];
  const counts = await readCounts(
    db,
    statistics.id,
    words.flatMap(({ terms }) => terms),
  );
  const countOf = ({ terms }: QueryWord) => terms.reduce((sum, term) => sum + (counts.get(term) ?? 0), 0);
  const similar = await findSimilar(
    db,
    statistics.id,
    words.filter((word) => countOf(word) === 0),
  );
  return words.map((word) => ({
    text: word.text,
    terms: new Set([...word.terms, ...(similar.get(word) ?? []).map(({ term }) => term)]),
    weight: inverseDocumentFrequency(countOf(word), statistics.textCount),
  }));
}
