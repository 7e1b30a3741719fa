export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/**
 * Returns a percentile, interpolated between neighbouring values.
 *
 * @param rank - from 0 to 1
 * @throws {RangeError} when there are no values
 */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = rank * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  if (low === undefined || high === undefined) throw new RangeError("A percentile requires at least one value.");
  return low + (high - low) * (position - Math.floor(position));
}

/** @param callMs - the durations of calls, in milliseconds */
export function formatLatencies(callMs: readonly number[]): string {
  const slowest = Math.max(...callMs).toFixed(0);
  return `p50 ${percentile(callMs, 0.5).toFixed(1)} ms, p99 ${percentile(callMs, 0.99).toFixed(0)} ms, slowest ${slowest} ms of ${callMs.length}`;
}

/** One round: both sides measured directly after each other, under the same load of the machine. */
export interface Pair {
  service: number;
  baseline: number;
}

export interface Comparison {
  /** The median of the ratios of service to baseline. */
  ratio: number;
  /** The medians of the absolute values. */
  service: number;
  baseline: number;
}

/** Takes the median of the ratios, and not the ratio of the medians: noise that slows down a whole round cancels out. */
export function compare(pairs: readonly Pair[]): Comparison {
  return {
    ratio: median(pairs.map(({ service, baseline }) => service / baseline)),
    service: median(pairs.map(({ service }) => service)),
    baseline: median(pairs.map(({ baseline }) => baseline)),
  };
}
