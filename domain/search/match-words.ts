import type { Db } from "../database-types.ts";
import { findSimilar } from "./find-similar.ts";
import { findPrefixed, type SimilarTerm } from "./expand-prefixes.ts";
import type { QueryWord } from "./query-words.ts";
import { countWords, readPostings, selectRareWords, type TermPostings } from "./read-postings.ts";
import type { ScopeStatistics } from "./scope-statistics.ts";
import type { MatchedWord } from "./score-postings.ts";

export interface Tolerance {
  typos?: boolean;
  prefix?: boolean;
}

/** A word of a query, and what the index has of it. */
export interface CountedWord {
  word: QueryWord;
  /** In how many texts it is. */
  count: number;
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

/** Finds the terms of the words of a query in the index, and reads their postings. */
export async function matchWords(
  db: Db,
  scope: ScopeStatistics,
  all: readonly QueryWord[],
  { typos = false, prefix = false }: Tolerance,
): Promise<MatchedWords> {
  const isLarge = all.length > MAX_WORDS || all.length * scope.textCount > MAX_POSTINGS;
  if (isLarge) return await matchRareWords(db, scope, all, { prefix });
  const { matched, postings } = await matchTerms(db, scope, all, prefix);
  const counts = new Map([...postings].map(([term, { count }]) => [term, count]));
  const counted = countWords(all, counts);
  const missing = typos ? all.filter((word) => !matched.has(word)) : [];
  const similar = await findSimilar(db, scope, missing);
  const corrections = [...similar].map(([word, terms]) => ({ word, terms }));
  const corrected = matchPostings(corrections, await readPostingsOf(db, scope, corrections));
  return {
    words: counted.map(({ word, count }) => ({ word, count, similar: similar.get(word) ?? [] })),
    matched: [...matched.values(), ...corrected.values()],
  };
}

/** Reading the postings of all words of a long query would take too long. Of the rare ones, none is missing. */
async function matchRareWords(
  db: Db,
  scope: ScopeStatistics,
  all: readonly QueryWord[],
  { prefix }: { prefix: boolean },
): Promise<MatchedWords> {
  const { counted, rare } = await selectRareWords(db, scope.id, all, MAX_WORDS);
  const { matched } = await matchTerms(db, scope, rare, prefix);
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
  prefix: boolean,
): Promise<{ matched: Map<QueryWord, MatchedWord>; postings: ReadonlyMap<string, TermPostings> }> {
  // In a query of stop words, they are all that it says.
  const hasOtherWords = words.some(({ isStopWord }) => !isStopWord);
  const weightOf = ({ isStopWord }: QueryWord): number => (isStopWord && hasOtherWords ? STOP_WORD_WEIGHT : 1);
  const prefixed = prefix ? await findPrefixed(db, scope.id, words) : new Map<QueryWord, SimilarTerm[]>();
  const terms = words.map((word) => ({
    word,
    terms: [...word.terms.map((term) => ({ term, weight: weightOf(word) })), ...(prefixed.get(word) ?? [])],
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
      return postings === undefined ? [] : [{ postings, weight }];
    });
    if (found.length > 0) matched.set(word, found);
  }
  return matched;
}
