import type { Db } from "../database-types.ts";
import { findPrefixed, findSimilar, type SimilarTerm } from "./find-terms.ts";
import type { QueryWord } from "./query-words.ts";
import { readPostings, selectRareWords } from "./read-postings.ts";
import type { MatchedWord } from "./score-postings.ts";

export interface Tolerance {
  typos?: boolean;
  prefix?: boolean;
}

/** How much a word counts that is a stop word in one of the languages only. */
const STOP_WORD_WEIGHT = 0.3;

/** Finds the terms of the words of a query in the index, and reads their postings. */
export async function matchWords(
  db: Db,
  scopeId: number,
  all: readonly QueryWord[],
  { typos = false, prefix = false }: Tolerance,
): Promise<MatchedWord[]> {
  const words = await selectRareWords(db, scopeId, all);
  // In a query of stop words, they are all that it says.
  const hasOtherWords = words.some(({ isStopWord }) => !isStopWord);
  const weightOf = ({ isStopWord }: QueryWord): number => (isStopWord && hasOtherWords ? STOP_WORD_WEIGHT : 1);
  const prefixed = prefix ? await findPrefixed(db, scopeId, words) : new Map<QueryWord, SimilarTerm[]>();
  const terms = words.map((word) => ({
    word,
    terms: [...word.terms.map((term) => ({ term, weight: weightOf(word) })), ...(prefixed.get(word) ?? [])],
  }));
  const matched = await readTerms(db, scopeId, terms);
  if (!typos) return [...matched.values()];
  const missing = words.filter((word) => !matched.has(word));
  const similar = await findSimilar(db, scopeId, missing);
  const corrected = await readTerms(
    db,
    scopeId,
    [...similar].map(([word, ofWord]) => ({ word, terms: ofWord })),
  );
  return [...matched.values(), ...corrected.values()];
}

async function readTerms(
  db: Db,
  scopeId: number,
  words: readonly { word: QueryWord; terms: readonly SimilarTerm[] }[],
): Promise<Map<QueryWord, MatchedWord>> {
  const all = new Set(words.flatMap(({ terms }) => terms.map(({ term }) => term)));
  const postingsByTerm = await readPostings(db, scopeId, [...all]);
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
