/** The value that half of the others lie below. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/**
 * The value that the share `rank` of all lies at or below, interpolated between neighbours.
 *
 * @param rank - from 0 to 1
 * @throws {RangeError} when there is no value
 */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = rank * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (low === undefined || high === undefined) throw new RangeError("There is no percentile of nothing");
  return low + (high - low) * (at - Math.floor(at));
}

/** One round: both sides measured directly after each other, so that they met the same noise. */
export interface Pair {
  ours: number;
  theirs: number;
}

export interface Comparison {
  /** The median of the rounds' own ratios of ours to theirs. */
  ratio: number;
  ours: number;
  theirs: number;
}

/** Noise that slows down a whole round leaves its ratio alone, which is why the ratios and not the medians are divided. */
export function compare(pairs: readonly Pair[]): Comparison {
  return {
    ratio: median(pairs.map(({ ours, theirs }) => ours / theirs)),
    ours: median(pairs.map(({ ours }) => ours)),
    theirs: median(pairs.map(({ theirs }) => theirs)),
  };
}
