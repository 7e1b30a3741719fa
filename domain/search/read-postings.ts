import type { Db } from "../database-types.ts";
import type { QueryWord } from "./query-words.ts";
import { textArray } from "./text-array.ts";

/** The postings of one term in one block. */
export interface PostingBlock {
  block: number;
  data: Uint8Array;
}

/** The postings of a term in all blocks. */
export interface TermPostings {
  /** In how many texts the term is. */
  count: number;
  blocks: PostingBlock[];
}

/** How many postings a long query reads, beside those of its rarest word. */
const MAX_POSTINGS = 200_000;

/** Reads the postings of terms. A term that no text contains is not in the map. */
export async function readPostings(
  db: Db,
  scopeId: number,
  terms: readonly string[],
): Promise<Map<string, TermPostings>> {
  const found = new Map<string, TermPostings>();
  if (terms.length === 0) return found;
  const rows = await db
    .selectFrom("search_postings")
    .select(["term", "block", "count", "data"])
    .where("scope_id", "=", scopeId)
    .where((eb) => eb("term", "=", eb.fn.any(textArray(eb, terms))))
    .execute();
  for (const { term, block, count, data } of rows) {
    const postings = found.get(term) ?? { count: 0, blocks: [] };
    postings.count += count;
    postings.blocks.push({ block, data });
    found.set(term, postings);
  }
  return found;
}

export interface WordCount {
  word: QueryWord;
  /** In how many texts it is that have the language of the query, or no one language. */
  count: number;
  /** In how many texts of other languages it is. */
  otherCount: number;
}

/** Counts the texts with each word. */
export function countWords(words: readonly QueryWord[], counts: ReadonlyMap<string, number>): WordCount[] {
  const countTexts = (terms: readonly string[]): number =>
    terms.reduce((sum, term) => sum + (counts.get(term) ?? 0), 0);
  return words.map((word) => ({ word, count: countTexts(word.terms), otherCount: countTexts(word.otherTerms) }));
}

/** Counts the words of a query, and selects at most `limit` words that few texts contain. */
export async function selectRareWords(
  db: Db,
  scopeId: number,
  words: readonly QueryWord[],
  limit: number,
): Promise<{ counted: WordCount[]; rare: QueryWord[] }> {
  const terms = words.flatMap((word) => [...word.terms, ...word.otherTerms]);
  const counted = countWords(words, await readCounts(db, scopeId, terms));
  let sum = 0;
  const rare = counted
    .filter(({ count, otherCount }) => count + otherCount > 0)
    .toSorted((a, b) => a.count + a.otherCount - (b.count + b.otherCount))
    .slice(0, limit)
    .filter(({ count, otherCount }) => {
      const isRarest = sum === 0;
      sum += count + otherCount;
      return isRarest || sum <= MAX_POSTINGS;
    });
  return { counted, rare: rare.map(({ word }) => word) };
}

/** Returns in how many texts of the scope each term is. A term that no text contains is not in the map. */
export async function readCounts(db: Db, scopeId: number, terms: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("search_postings")
    .select(({ fn }) => ["term", fn.sum<string>("count").as("count")])
    .where("scope_id", "=", scopeId)
    .where((eb) => eb("term", "=", eb.fn.any(textArray(eb, terms))))
    .groupBy("term")
    .execute();
  return new Map(rows.map(({ term, count }) => [term, Number(count)]));
}
