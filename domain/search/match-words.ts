import type { Db } from "../database-types.ts";
import { findSimilar } from "./find-similar.ts";
import { prefixOfTerm } from "./languages.ts";
import { findPrefixed, type SimilarTerm } from "./expand-prefixes.ts";
import type { QueryWord } from "./query-words.ts";
import { countWords, readPostings, selectRareWords, type TermPostings } from "./read-postings.ts";
import type { ScopeStatistics } from "./scope-statistics.ts";
import type { MatchedWord } from "./score-postings.ts";

export interface Tolerance {
  typos?: boolean | undefined;
  prefix?: boolean | undefined;
  /** What the terms of the language of the query begin with. Only they are completed and corrected. */
  languagePrefix: string;
}

/** A word of a query, and what the index has of it. */
export interface CountedWord {
  word: QueryWord;
  /** In how many texts it is that have the language of the query, or no one language. */
  count: number;
  /** In how many texts of other languages it is. */
  otherCount: number;
  /** The terms that are searched for instead of a word that no text has. */
  similar: readonly SimilarTerm[];
}

export interface MatchedWords {
  /** All words of the query. */
  words: CountedWord[];
  /** The words that texts are found by. */
  matched: MatchedWord[];
}

/** A query of more words is searched for its rarest words. */
const MAX_WORDS = 16;
/** So is a query whose words could have more postings, if each text of the scope had each of them: scoring them takes 20 ms. */
const MAX_POSTINGS = 2_000_000;
/** How much a word counts that is a stop word in one of the languages only. */
const STOP_WORD_WEIGHT = 0.3;
/** How much a word counts in texts of another language than the query: it may mean something else there. */
const OTHER_LANGUAGE_WEIGHT = 0.5;

/** Finds the terms of the words of a query in the index, and reads their postings. */
export async function matchWords(
  db: Db,
  scope: ScopeStatistics,
  all: readonly QueryWord[],
  { typos = false, prefix = false, languagePrefix }: Tolerance,
): Promise<MatchedWords> {
  const isLarge = all.length > MAX_WORDS || all.length * scope.textCount > MAX_POSTINGS;
  if (isLarge) return await matchRareWords(db, scope, all, { prefix, languagePrefix });
  const { matched, postings } = await matchTerms(db, scope, all, { prefix, languagePrefix });
  const counts = new Map([...postings].map(([term, { count }]) => [term, count]));
  const counted = countWords(all, counts);
  const missing = typos ? all.filter((word) => !matched.has(word)) : [];
  const similar = await findSimilar(db, scope, missing, languagePrefix);
  const corrections = [...similar].map(([word, terms]) => ({ word, terms }));
  const corrected = matchPostings(corrections, await readPostingsOf(db, scope, corrections));
  return {
    words: counted.map((word) => ({ ...word, similar: similar.get(word.word) ?? [] })),
    matched: [...matched.values(), ...corrected.values()],
  };
}

/** Reading the postings of all words of a long query would take too long. Of the rare ones, none is missing. */
async function matchRareWords(
  db: Db,
  scope: ScopeStatistics,
  all: readonly QueryWord[],
  tolerance: Tolerance,
): Promise<MatchedWords> {
  const { counted, rare } = await selectRareWords(db, scope.id, all, MAX_WORDS);
  const { matched } = await matchTerms(db, scope, rare, tolerance);
  return { words: counted.map((word) => ({ ...word, similar: [] })), matched: [...matched.values()] };
}

interface WordTerms {
  word: QueryWord;
  terms: readonly SimilarTerm[];
}

/** Finds the terms of words, and with `prefix` those that begin with a word. */
async function matchTerms(
  db: Db,
  scope: ScopeStatistics,
  words: readonly QueryWord[],
  { prefix, languagePrefix }: Tolerance,
): Promise<{ matched: Map<QueryWord, MatchedWord>; postings: ReadonlyMap<string, TermPostings> }> {
  // In a query of stop words, they are all that it says.
  const hasOtherWords = words.some(({ isStopWord }) => !isStopWord);
  const weightOf = ({ isStopWord }: QueryWord): number => (isStopWord && hasOtherWords ? STOP_WORD_WEIGHT : 1);
  const prefixed = prefix
    ? await findPrefixed(db, scope.id, words, languagePrefix)
    : new Map<QueryWord, SimilarTerm[]>();
  const terms = words.map((word) => ({
    word,
    terms: [
      ...word.terms.map((term) => ({ term, weight: weightOf(word) })),
      ...word.otherTerms.map((term) => ({ term, weight: OTHER_LANGUAGE_WEIGHT })),
      ...(prefixed.get(word) ?? []),
    ],
  }));
  const postings = await readPostingsOf(db, scope, terms);
  return { matched: matchPostings(terms, postings), postings };
}

function readPostingsOf(db: Db, { id }: ScopeStatistics, words: readonly WordTerms[]) {
  const terms = new Set(words.flatMap((ofWord) => ofWord.terms.map(({ term }) => term)));
  return readPostings(db, id, [...terms]);
}

function matchPostings(
  words: readonly WordTerms[],
  postingsByTerm: ReadonlyMap<string, TermPostings>,
): Map<QueryWord, MatchedWord> {
  const matched = new Map<QueryWord, MatchedWord>();
  for (const { word, terms } of words) {
    const found = terms.flatMap(({ term, weight }) => {
      const postings = postingsByTerm.get(term);
      return postings === undefined ? [] : [{ postings, weight, prefix: prefixOfTerm(term) }];
    });
    if (found.length > 0) matched.set(word, found);
  }
  return matched;
}
