/** An entry of the index: one text that contains a term. */
export interface Posting {
  /** The index id of the text within its block. */
  offset: number;
  /** 0 to 7. */
  category: number;
  titleCount: number;
  bodyCount: number;
  /** The number of words of the text. */
  length: number;
}

/**
 * A block contains the postings of up to 4,096 texts. An added text rewrites a block of each of its terms, and a search reads all
 * blocks of its terms.
 */
const BLOCK_BITS = 12;
export const BLOCK_SIZE = 1 << BLOCK_BITS;
export const POSTING_BYTES = 4;

const CATEGORY_SHIFT = 13;
const TITLE_SHIFT = 5;
const MAX_TITLE_COUNT = 7;
const MAX_BODY_COUNT = 31;
/** The steps of a length are 9 %. */
const LENGTH_STEPS = 8;
export const MAX_ROUNDED_LENGTH = 255;

export const blockOf = (indexId: number): number => indexId >>> BLOCK_BITS;
export const offsetOf = (indexId: number): number => indexId & (BLOCK_SIZE - 1);

/** Writes 4 bytes: offset and category (2), counts (1), and a rounded length (1). */
export function encodePosting(data: Uint8Array, at: number, posting: Posting): void {
  const place = posting.offset | (posting.category << CATEGORY_SHIFT);
  data[at] = place & 0xff;
  data[at + 1] = place >>> 8;
  data[at + 2] =
    (Math.min(posting.titleCount, MAX_TITLE_COUNT) << TITLE_SHIFT) | Math.min(posting.bodyCount, MAX_BODY_COUNT);
  data[at + 3] = Math.min(MAX_ROUNDED_LENGTH, Math.round(LENGTH_STEPS * Math.log2(1 + posting.length)));
}

/** Replaces the offset 0 of a posting. */
export function writeOffset(data: Uint8Array, at: number, offset: number): void {
  data[at] = offset & 0xff;
  data[at + 1] = (data[at + 1] ?? 0) | (offset >>> 8);
}

export const readOffset = (low: number, high: number): number => (low | (high << 8)) & (BLOCK_SIZE - 1);
export const readCategory = (high: number): number => high >>> (CATEGORY_SHIFT - 8);
export const readTitleCount = (counts: number): number => counts >>> TITLE_SHIFT;
export const readBodyCount = (counts: number): number => counts & MAX_BODY_COUNT;
/** The length that a rounded length stands for. */
export const readLength = (rounded: number): number => 2 ** (rounded / LENGTH_STEPS) - 1;
export const readCounts = (data: Uint8Array, at: number): number => data[at + 2] ?? 0;
export const readRoundedLength = (data: Uint8Array, at: number): number => data[at + 3] ?? 0;
