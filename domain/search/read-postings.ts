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

/** A query of more words is searched for its rarest words. */
const MAX_WORDS = 16;
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

/** Returns the words of a long query that few texts contain, because reading the postings of all would take too long. */
export async function selectRareWords(
  db: Db,
  scopeId: number,
  words: readonly QueryWord[],
): Promise<readonly QueryWord[]> {
  if (words.length <= MAX_WORDS) return words;
  const counts = await readCounts(
    db,
    scopeId,
    words.flatMap(({ terms }) => terms),
  );
  const counted = words.map((word) => ({
    word,
    count: word.terms.reduce((sum, term) => sum + (counts.get(term) ?? 0), 0),
  }));
  let sum = 0;
  return counted
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => a.count - b.count)
    .slice(0, MAX_WORDS)
    .filter(({ count }) => {
      const isRarest = sum === 0;
      sum += count;
      return isRarest || sum <= MAX_POSTINGS;
    })
    .map(({ word }) => word);
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
