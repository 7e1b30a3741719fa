import type { Metric } from "../support/bench-section.ts";
import { median, type Pair, percentile } from "../support/statistics.ts";

/** @param targetMs - of the 95th percentile; `null` without a target */
export function toMetric(name: string, pairs: readonly Pair[], targetMs: number | null): Metric {
  const calls = pairs.map(({ service }) => service);
  const baselines = pairs.map(({ baseline }) => baseline);
  const p95 = percentile(calls, 0.95);
  const ratio = median(pairs.map(({ service, baseline }) => service / baseline));
  return {
    name: `${name}, p95`,
    result: `${p95.toFixed(1)} ms`,
    target: targetMs === null ? null : { bound: `≤ ${targetMs} ms`, met: p95 <= targetMs },
    details: `p50 ${median(calls).toFixed(1)} ms; baseline p50 ${median(baselines).toFixed(1)} ms, p95 ${percentile(baselines, 0.95).toFixed(1)} ms; ratio ${ratio.toFixed(2)}`,
  };
}
