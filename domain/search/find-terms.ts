import type { Db } from "../database-types.ts";
import { editDistance } from "./edit-distance.ts";
import type { QueryWord } from "./query-words.ts";

/** A term of the index that is similar to a word of a query. */
export interface SimilarTerm {
  term: string;
  /** 1 for an equal term. */
  weight: number;
}

/** How many rows of the index are read for the beginning of a word: about 5 ms. */
const MAX_ROWS = 20_000;
/** How many similar terms are searched for instead of a word. */
const MAX_TERMS = 24;
const PREFIX_WEIGHT = 0.5;
const TYPO_WEIGHT = 0.5;
/** The words that are completed or corrected: each of them reads a range of the index. */
const MAX_WORDS = 12;
const MIN_TYPO_LENGTH = 4;
/** The shortest words with two typing errors. */
const MIN_LENGTH_OF_TWO_ERRORS = 8;
/** The highest code point, which comes after every letter. */
const LAST = "\u{10ffff}";

/** Finds the terms that begin with a word. A word of one or two ASCII characters must be the only one. */
export async function findPrefixed(
  db: Db,
  scopeId: number,
  words: readonly QueryWord[],
): Promise<Map<QueryWord, SimilarTerm[]>> {
  const found = new Map<QueryWord, SimilarTerm[]>();
  const completed = words.filter(({ text }) => words.length === 1 || !/^[a-z0-9]{1,2}$/.test(text));
  for (const word of completed.slice(0, MAX_WORDS)) {
    const terms = new Map<string, number>();
    for (const prefix of new Set([word.text, ...word.terms]))
      for (const { term, count } of await readTerms(db, scopeId, prefix))
        if (!word.terms.includes(term)) terms.set(term, count);
    const best = [...terms].toSorted(([, a], [, b]) => b - a).slice(0, MAX_TERMS);
    found.set(
      word,
      best.map(([term]) => ({ term, weight: PREFIX_WEIGHT * Math.min(1, word.text.length / term.length) })),
    );
  }
  return found;
}

/**
 * Finds the terms that differ from a word in few letters. The first letter must be right, or swapped with the second one. In a
 * large scope, the second letter must be right too.
 */
export async function findSimilar(
  db: Db,
  scopeId: number,
  words: readonly QueryWord[],
): Promise<Map<QueryWord, SimilarTerm[]>> {
  const found = new Map<QueryWord, SimilarTerm[]>();
  const corrected = words.filter(({ text }) => text.length >= MIN_TYPO_LENGTH);
  for (const word of corrected.slice(0, MAX_WORDS)) {
    const maxDistance = word.text.length < MIN_LENGTH_OF_TWO_ERRORS ? 1 : 2;
    const similar = new Map<string, SimilarTerm & { count: number }>();
    for (const prefix of beginningsOf(word))
      for (const { term, count } of await readTerms(db, scopeId, prefix)) {
        const distance = Math.min(...[word.text, ...word.terms].map((text) => editDistance(text, term, maxDistance)));
        if (distance <= maxDistance) similar.set(term, { term, weight: TYPO_WEIGHT / Math.max(1, distance), count });
      }
    const best = [...similar.values()].toSorted((a, b) => b.weight - a.weight || b.count - a.count);
    if (best.length > 0) found.set(word, best.slice(0, MAX_TERMS));
  }
  return found;
}

/** In a large scope, the terms with the first letter are too many to read all. */
function beginningsOf({ text }: QueryWord): Set<string> {
  const [first = "", second = ""] = Array.from(text);
  return new Set([first, first + second, second + first]);
}

/** Reads terms with a prefix, and how many texts contain them, up to a number of rows. */
async function readTerms(db: Db, scopeId: number, prefix: string): Promise<{ term: string; count: number }[]> {
  const rows = await db
    .selectFrom(
      db
        .selectFrom("search_postings")
        .select(["term", "count"])
        .where("scope_id", "=", scopeId)
        .where("term", ">=", prefix)
        .where("term", "<", `${prefix}${LAST}`)
        .orderBy("term")
        .limit(MAX_ROWS)
        .as("row"),
    )
    .select(({ fn }) => ["term", fn.sum<string>("count").as("count")])
    .groupBy("term")
    .execute();
  return rows.map(({ term, count }) => ({ term, count: Number(count) }));
}
