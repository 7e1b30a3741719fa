import { MAX_ROUNDED_LENGTH, readBodyCount, readLength, readTitleCount } from "./postings.ts";

/** The parameters of BM25. */
export interface RankingParameters {
  /** How much further occurrences of a word add. */
  k1: number;
  /** How much the length of a text counts: 0 to 1. */
  b: number;
  /** How many occurrences in the body one in the title stands for. */
  titleWeight: number;
}

export const RANKING: RankingParameters = { k1: 1.5, b: 0.75, titleWeight: 3 };

const COUNTS = 256;

/**
 * Precomputes the scores of BM25F, which depend only on the two bytes of a posting's counts and length.
 *
 * @returns the score for a word with the idf 1, at `counts + 256 * length`
 */
export function tabulateScores(averageLength: number, { k1, b, titleWeight }: RankingParameters): Float64Array {
  const scores = new Float64Array(COUNTS * (MAX_ROUNDED_LENGTH + 1));
  for (let length = 0; length <= MAX_ROUNDED_LENGTH; length++) {
    const norm = k1 * (1 - b + (b * readLength(length)) / averageLength);
    for (let counts = 0; counts < COUNTS; counts++) {
      const frequency = titleWeight * readTitleCount(counts) + readBodyCount(counts);
      scores[counts + COUNTS * length] = ((k1 + 1) * frequency) / (frequency + norm);
    }
  }
  return scores;
}

/** How much a word says, by how many of the texts contain it. */
export function inverseDocumentFrequency(count: number, textCount: number): number {
  const known = Math.min(count, textCount);
  return Math.log(1 + (textCount - known + 0.5) / (known + 0.5));
}
