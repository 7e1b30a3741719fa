import { SESSION_LIMITS } from "../session-rules.ts";
import type { EntryUsage } from "../transcript-entry.ts";

/**
 * @param max - a larger number is an error of the file; by default the most that an entry can have
 * @returns 0 for an absent number, `null` for a value that cannot be a number of tokens
 */
export function readTokenCount(value: unknown, max: number = SESSION_LIMITS.tokens): number | null {
  if (value === undefined || value === null) return 0;
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;
  return isCount ? value : null;
}

export const NO_USAGE: EntryUsage = { input: 0, output: 0, cache_read: 0, cache_write: 0 };

/** Combines two usages field by field. */
export function combineUsage(a: EntryUsage, b: EntryUsage, combine: (a: number, b: number) => number): EntryUsage {
  return {
    input: combine(a.input, b.input),
    output: combine(a.output, b.output),
    cache_read: combine(a.cache_read, b.cache_read),
    cache_write: combine(a.cache_write, b.cache_write),
  };
}

/** Returns how much each number of `a` exceeds that of `b`. */
export function subtractUsage(a: EntryUsage, b: EntryUsage): EntryUsage {
  return combineUsage(a, b, (x, y) => Math.max(0, x - y));
}

export function isNoUsage({ input, output, cache_read, cache_write }: EntryUsage): boolean {
  return input + output + cache_read + cache_write === 0;
}
