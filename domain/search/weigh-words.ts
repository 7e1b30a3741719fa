import type { CountedWord } from "./match-words.ts";
import { inverseDocumentFrequency } from "./ranking.ts";

/** A word of a query, and how much it says in a scope. */
export interface WeighedWord {
  /** As the caller wrote it, without case and diacritics. */
  text: string;
  /** The terms that stand for it in the index. If no text has the word, those of similar words too. */
  terms: ReadonlySet<string>;
  /** Whether it is a stop word of the language of the query, so that it says little. */
  isStopWord: boolean;
  /** Whether no text has the word, so that the terms are those of similar words. */
  isMissing: boolean;
  /** Its inverse document frequency: the rarer, the higher. A word that no text has gets the highest weight. */
  weight: number;
}

/** Returns the words of a query with their weights among so many texts of its language. */
export function weighWords(words: readonly CountedWord[], textCount: number): WeighedWord[] {
  return words.map(({ word, count, otherCount, similar }) => ({
    text: word.text,
    terms: new Set([...word.terms, ...word.otherTerms, ...similar.map(({ term }) => term)]),
    isStopWord: word.isStopWord,
    isMissing: count + otherCount === 0,
    weight: inverseDocumentFrequency(count, textCount),
  }));
}
