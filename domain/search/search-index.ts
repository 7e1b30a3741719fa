import type { Db } from "../database-types.ts";
import type { IndexHit } from "./best-hits.ts";
import type { Language } from "./languages.ts";
import { matchWords } from "./match-words.ts";
import { readQueryWords } from "./query-words.ts";
import type { RankingParameters } from "./ranking.ts";
import { readStatistics, type ScopeStatistics } from "./scope-statistics.ts";
import { scorePostings } from "./score-postings.ts";
import type { ScopeKey } from "./search-scope.ts";
import { type WeighedWord, weighWords } from "./weigh-words.ts";

export interface IndexQuery {
  /** Any text. Its first 10,000 characters are read, and of many words the rarest ones are searched for. */
  text: string;
  /** `any`: the languages of all texts of the scope. */
  language: Language | "any";
  /** Of the languages in which texts were ever added to the scope, those of the texts that exist. By default, all of them. */
  selectLanguages?(added: readonly Language[]): Promise<readonly Language[]>;
  /** At most 200. */
  limit: number;
  /** Finds only texts of these categories; without it, of all. */
  categories?: readonly number[];
  /** Finds only these texts; without it, all. */
  indexIds?: ReadonlySet<number>;
  /** Whether a word that no text has finds similar words: one different letter, or two in a word of eight or more. */
  typos?: boolean;
  /** Whether a word also finds words that begin with it. */
  prefix?: boolean;
  /** Without it, `RANKING`. */
  ranking?: RankingParameters;
}

const MAX_LIMIT = 200;

/**
 * Searches a scope for texts with words of a query. A text does not need all of them. It reads rows of the scope only.
 *
 * @returns the best text first; empty when no text has one of the words, or when all words of the query are stop words
 */
export async function searchIndex(db: Db, scope: ScopeKey, query: IndexQuery): Promise<IndexHit[]> {
  return (await searchIndexAndWeigh(db, scope, query)).hits;
}

/** Searches as `searchIndex` does, and returns how much each word of the query says in the scope. */
export async function searchIndexAndWeigh(
  db: Db,
  scope: ScopeKey,
  query: IndexQuery,
): Promise<{ hits: IndexHit[]; words: WeighedWord[] }> {
  const statistics = await readStatistics(db, scope);
  if (statistics === null) return { hits: [], words: [] };
  const words = await readQueryWords(query.text, await languagesOfQuery(query, statistics));
  const { matched, words: counted } = await matchWords(db, statistics, words, query);
  const hits = scorePostings(matched, {
    ...statistics,
    limit: Math.min(query.limit, MAX_LIMIT),
    categories: query.categories,
    indexIds: query.indexIds,
    parameters: query.ranking,
  });
  return { hits, words: weighWords(counted, statistics.textCount) };
}

async function languagesOfQuery(
  { language, selectLanguages }: IndexQuery,
  { languages }: ScopeStatistics,
): Promise<readonly Language[]> {
  if (language !== "any") return [language];
  return selectLanguages === undefined || languages.length < 2 ? languages : selectLanguages(languages);
}
