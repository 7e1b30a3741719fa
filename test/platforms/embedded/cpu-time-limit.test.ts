import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CpuTimeLimit } from "../../../server/platforms/embedded/cpu-time-limit.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});

afterEach(() => vi.useRealTimers());

test("a process that has used the CPU time since the start of the limit exceeds it", () => {
  const limit = new CpuTimeLimit(10_000, 5000);
  expect([limit.exceededBy(14_999), limit.exceededBy(15_000)]).toEqual([null, { of: "cpu", limitMs: 10_000 }]);
});

test("a process that a busy machine delays may take six times as long", () => {
  const limit = new CpuTimeLimit(10_000, 0);
  vi.advanceTimersByTime(59_999);
  expect(limit.exceededBy(9_999)).toBeNull();
  vi.advanceTimersByTime(1);
  expect(limit.exceededBy(9_999)).toEqual({ of: "waiting", limitMs: 60_000 });
});
