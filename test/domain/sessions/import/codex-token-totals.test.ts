import { describe, expect, test } from "vitest";
import { TokenTotals } from "../../../../domain/sessions/import/codex/token-totals.ts";

describe("the totals of a thread", () => {
  const usage = (input: number, output = 0) => ({ input, output, cache_read: 0, cache_write: 0 });
  const given = (total: number | null) => {
    const totals = new TokenTotals({ startsAtZero: total !== null });
    if (total !== null) totals.replace(usage(total));
    return totals;
  };

  test("are compared with the last total", () => {
    const totals = given(0);
    expect(totals.advance(usage(10, 1), usage(99), false)).toEqual(usage(10, 1));
    expect(totals.advance(usage(10, 1), usage(99), true)).toBeUndefined();
    expect(totals.advance(usage(15, 3), null, false)).toEqual(usage(5, 2));
  });

  test("give the usage of a new response if they are lower, or the first of a fork", () => {
    for (const before of [100, null]) {
      expect(given(before).advance(usage(20, 2), usage(5, 1), true)).toEqual(usage(5, 1));
      expect(given(before).advance(usage(20, 2), usage(30, 1), true)).toEqual(usage(20, 1));
      expect(given(before).advance(usage(20, 2), usage(5, 1), false)).toBeUndefined();
      expect(given(before).advance(usage(20, 2), usage(0), true)).toBeUndefined();
      expect(given(before).advance(usage(20, 2), null, true)).toBeUndefined();
      const totals = given(before);
      totals.advance(usage(20, 2), null, true);
      expect(totals.advance(usage(25, 2), null, true)).toEqual(usage(5));
    }
  });

  test("include the usages of responses that were counted since the last total", () => {
    const totals = given(10);
    expect(totals.addResponse(usage(0), true)).toBeUndefined();
    expect(totals.addResponse(usage(5, 1), true)).toEqual(usage(5, 1));
    expect(totals.advance(usage(15, 1), null, true)).toBeUndefined();
    totals.addResponse(usage(5, 1), true);
    expect(totals.advance(usage(22, 5), null, true)).toEqual(usage(2, 3));
    const fork = given(null);
    fork.addResponse(usage(5, 1), true);
    expect(fork.advance(usage(100, 9), usage(5, 1), false)).toBeUndefined();
  });
});
