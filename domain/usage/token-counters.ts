export const TOKEN_METRICS = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"] as const;

export interface TokenCounters {
  /** Without cached tokens. */
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  /** The sum of the other four. */
  total: number;
}

/** @param counts - numbers, or as the database returns them: text */
export function toTokenCounters(
  counts: Partial<Record<(typeof TOKEN_METRICS)[number], number | string>>,
): TokenCounters {
  const [input, output, cacheRead, cacheWrite] = TOKEN_METRICS.map((metric) => Number(counts[metric] ?? 0)) as [
    number,
    number,
    number,
    number,
  ];
  const total = input + output + cacheRead + cacheWrite;
  return { input, output, cache_read: cacheRead, cache_write: cacheWrite, total };
}
