import { expect, test } from "vitest";
import {
  combineUsage,
  isNoUsage,
  NO_USAGE,
  readTokenCount,
  subtractUsage,
} from "../../../../domain/sessions/import/token-counts.ts";

test("a number of tokens is an integer from 0 to the maximum, and an absent one is 0", () => {
  for (const value of [undefined, null, 0]) expect(readTokenCount(value)).toBe(0);
  expect([readTokenCount(1_000_000_000), readTokenCount(1_000_000_001)]).toEqual([1_000_000_000, null]);
  expect([readTokenCount(5, 5), readTokenCount(6, 5)]).toEqual([5, null]);
  for (const value of [-1, 0.5, Number.NaN, "1", true, {}]) expect(readTokenCount(value)).toBeNull();
});

test("usages are combined, subtracted and compared number by number", () => {
  const usage = { input: 1, output: 20, cache_read: 300, cache_write: 4000 };
  const other = { input: 5, output: 5, cache_read: 5, cache_write: 5 };
  expect(combineUsage(usage, other, (a, b) => a + b)).toEqual({
    input: 6,
    output: 25,
    cache_read: 305,
    cache_write: 4005,
  });
  expect(subtractUsage(usage, other)).toEqual({ input: 0, output: 15, cache_read: 295, cache_write: 3995 });
  expect(isNoUsage(NO_USAGE)).toBe(true);
  for (const key of ["input", "output", "cache_read", "cache_write"] as const) {
    expect([key, isNoUsage({ ...NO_USAGE, [key]: 1 })]).toEqual([key, false]);
    expect([key, isNoUsage({ ...NO_USAGE, input: 1, [key]: 1 })]).toEqual([key, false]);
  }
});
