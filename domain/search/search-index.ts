import type { Db } from "../database-types.ts";
import type { IndexHit } from "./best-hits.ts";
import { type Language, prefixOf } from "./languages.ts";
import { matchWords } from "./match-words.ts";
import { readQueryWords } from "./query-words.ts";
import type { RankingParameters } from "./ranking.ts";
import { readStatistics } from "./scope-statistics.ts";
import { selectLanguage } from "./select-language.ts";
import { scorePostings } from "./score-postings.ts";
import type { ScopeKey } from "./search-scope.ts";
import { type WeighedWord, weighWords } from "./weigh-words.ts";

export interface IndexQuery {
  /** Any text. Its first 10,000 characters are read, and of many words the rarest ones are searched for. */
  text: string;
  /** The language of the query; `detect`: that of its words, among the languages of the texts. */
  language: Language | "detect";
  /** Whether stop words are searched for too, in texts whose stop words are indexed. */
  stopWords?: boolean;
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

export interface FoundTexts {
  /** The best text first. */
  hits: IndexHit[];
  /** How much each word of the query says in the texts of its language. */
  words: WeighedWord[];
  /** The language of the query. */
  language: Language;
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
export async function searchIndexAndWeigh(db: Db, scope: ScopeKey, query: IndexQuery): Promise<FoundTexts> {
  const statistics = await readStatistics(db, scope);
  if (statistics === null) return { hits: [], words: [], language: "english" };
  const languages = statistics.languages.map((size) => size.language);
  const language = query.language === "detect" ? await selectLanguage(query.text, languages) : query.language;
  const searched = query.stopWords ? [...new Set([...languages, "simple" as const])] : languages;
  const words = await readQueryWords(query.text, { language, languages: searched });
  const prefix = prefixOf(language);
  const { matched, words: counted } = await matchWords(db, statistics, words, { ...query, languagePrefix: prefix });
  const hits = scorePostings(matched, {
    byPrefix: statistics.byPrefix,
    prefix,
    limit: Math.min(query.limit, MAX_LIMIT),
    categories: query.categories,
    indexIds: query.indexIds,
    parameters: query.ranking,
  });
  const { textCount } = statistics.byPrefix.get(prefix) ?? statistics;
  return { hits, words: weighWords(counted, textCount), language };
}
