import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LogLimit } from "../../../domain/shared/log-limit.ts";

beforeEach(() => vi.useFakeTimers({ now: 0 }));
afterEach(() => vi.useRealTimers());

test("the first messages of a minute are logged for each key, and the last of them says that others are not", () => {
  const limit = new LogLimit(2);
  const last = { note: "further ones of this minute are not logged" };
  expect([limit.admit("a"), limit.admit("a"), limit.admit("a"), limit.admit("b")]).toEqual([{}, last, null, {}]);
});

test("messages are logged again in the next minute", () => {
  const limit = new LogLimit(1);
  limit.admit("a");
  expect(limit.admit("a")).toBeNull();
  vi.advanceTimersByTime(60_000);
  expect(limit.admit("a")).not.toBeNull();
});
