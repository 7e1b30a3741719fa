import { BestHits, type IndexHit } from "./best-hits.ts";
import { BLOCK_SIZE, POSTING_BYTES, readCategory, readOffset } from "./postings.ts";
import {
  createScoreTable,
  inverseDocumentFrequency,
  RANKING,
  type RankingParameters,
  scorePosting,
  type ScoreTable,
} from "./ranking.ts";
import type { TermPostings } from "./read-postings.ts";
import type { TextStatistics } from "./scope-statistics.ts";

/** A term that a word of a query finds. */
export interface MatchedTerm {
  postings: TermPostings;
  /** 1 for the word itself, less for a similar word, or for texts in another language than the query. */
  weight: number;
  /** What the term begins with, as `prefixOf` returns it. */
  prefix: string;
}

/** The terms that one word of a query finds. A text gets the score of the best of them. */
export type MatchedWord = readonly MatchedTerm[];

export interface ScoringOptions {
  /** The statistics of the texts whose terms have the same beginning. */
  byPrefix: ReadonlyMap<string, TextStatistics>;
  /** What the terms of the language of the query begin with. */
  prefix: string;
  limit: number;
  categories?: readonly number[] | undefined;
  indexIds?: ReadonlySet<number> | undefined;
  parameters?: RankingParameters | undefined;
}

/** Scores all texts with one of the words by BM25F, and returns the best ones first. */
export function scorePostings(words: readonly MatchedWord[], options: ScoringOptions): IndexHit[] {
  const best = new BestHits(options.limit);
  const scorer = new BlockScorer(options);
  for (const [block, matches] of groupByBlock(words, options)) {
    const sums = scorer.score(matches);
    const first = block * BLOCK_SIZE;
    for (let offset = 0; offset < BLOCK_SIZE; offset++) {
      const score = sums[offset] ?? 0;
      if (score <= best.threshold) continue;
      if (options.indexIds?.has(first + offset) === false) continue;
      best.add({ indexId: first + offset, score });
    }
  }
  return best.toSorted();
}

interface BlockMatch {
  data: Uint8Array;
  /** What the score of a posting is multiplied with. */
  factor: number;
  /** For the language of the term. */
  table: ScoreTable;
}

/** Returns the matches of each block: for each word those of its terms. */
function groupByBlock(words: readonly MatchedWord[], options: ScoringOptions): Map<number, BlockMatch[][]> {
  const blocks = new Map<number, BlockMatch[][]>();
  const { byPrefix, parameters = RANKING } = options;
  const tables = new Map(
    [...byPrefix].map(([prefix, { averageLength }]) => [prefix, createScoreTable(averageLength, parameters)]),
  );
  for (const [index, terms] of words.entries()) {
    const frequencies = measureFrequencies(terms, options);
    for (const { postings, weight, prefix } of terms) {
      const table = tables.get(prefix);
      if (table === undefined) continue;
      const factor = (frequencies.get(prefix) ?? 0) * weight;
      for (const { block, data } of postings.blocks) {
        const matches = blocks.get(block) ?? [];
        blocks.set(block, matches);
        (matches[index] ??= []).push({ data, factor, table });
      }
    }
  }
  // In ascending order, so that of equal scores the lowest index ids stay.
  return new Map([...blocks].toSorted(([a], [b]) => a - b));
}

/** Returns the inverse document frequency of a word in each language. In another language than that of the query, it is not higher. */
function measureFrequencies(terms: MatchedWord, { byPrefix, prefix: own }: ScoringOptions): Map<string, number> {
  const counts = new Map([[own, 0]]);
  for (const { prefix, postings } of terms) counts.set(prefix, (counts.get(prefix) ?? 0) + postings.count);
  const measure = (prefix: string): number =>
    inverseDocumentFrequency(counts.get(prefix) ?? 0, byPrefix.get(prefix)?.textCount ?? 0);
  const most = byPrefix.has(own) ? measure(own) : Number.POSITIVE_INFINITY;
  return new Map([...counts.keys()].map((prefix) => [prefix, Math.min(most, measure(prefix))]));
}

class BlockScorer {
  readonly #isAllowed: readonly boolean[];
  readonly #sums = new Float64Array(BLOCK_SIZE);
  readonly #best = new Float64Array(BLOCK_SIZE);

  constructor({ categories }: ScoringOptions) {
    this.#isAllowed = Array.from({ length: 8 }, (_, category) => categories?.includes(category) ?? true);
  }

  /** Returns the score of each text of a block. The array is valid until the next call. */
  score(words: readonly (readonly BlockMatch[])[]): Float64Array {
    const sums = this.#sums.fill(0);
    // A block without the word has a hole.
    for (const matches of words) {
      if (matches === undefined) continue;
      const [only, ...others] = matches;
      if (only !== undefined && others.length === 0) this.#addScores(only);
      else this.#addBestScores(matches);
    }
    return sums;
  }

  #addScores({ data, factor, table }: BlockMatch): void {
    const sums = this.#sums;
    for (let at = 0; at < data.length; at += POSTING_BYTES) {
      const high = data[at + 1] ?? 0;
      if (this.#isAllowed[readCategory(high)] !== true) continue;
      const offset = readOffset(data[at] ?? 0, high);
      sums[offset] = (sums[offset] ?? 0) + factor * scorePosting(table, data, at);
    }
  }

  #addBestScores(matches: readonly BlockMatch[]): void {
    const best = this.#best.fill(0);
    for (const { data, factor, table } of matches)
      for (let at = 0; at < data.length; at += POSTING_BYTES) {
        const high = data[at + 1] ?? 0;
        if (this.#isAllowed[readCategory(high)] !== true) continue;
        const offset = readOffset(data[at] ?? 0, high);
        const score = factor * scorePosting(table, data, at);
        if (score > (best[offset] ?? 0)) best[offset] = score;
      }
    for (let offset = 0; offset < BLOCK_SIZE; offset++)
      this.#sums[offset] = (this.#sums[offset] ?? 0) + (best[offset] ?? 0);
  }
}
