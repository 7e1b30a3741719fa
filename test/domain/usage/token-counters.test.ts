import { expect, test } from "vitest";
import { toTokenCounters } from "../../../domain/usage/token-counters.ts";

test("the total of token counters is the sum of the four counters, as numbers or as text", () => {
  const counters = { input: 1000, output: 200, cache_read: 30, cache_write: 4, total: 1234 };
  const counts = { input_tokens: 1000, output_tokens: 200, cache_read_tokens: 30, cache_write_tokens: 4 };
  expect(toTokenCounters(counts)).toEqual(counters);
  const texts = Object.fromEntries(Object.entries(counts).map(([metric, count]) => [metric, String(count)]));
  expect(toTokenCounters(texts)).toEqual(counters);
  expect(toTokenCounters({ output_tokens: "7" })).toEqual({
    input: 0,
    output: 7,
    cache_read: 0,
    cache_write: 0,
    total: 7,
  });
});
