import { afterEach, expect, test, vi } from "vitest";
import { RestartBackoff } from "../../../server/platforms/embedded/supervisor/restart-backoff.ts";

afterEach(() => vi.useRealTimers());

test("the delay doubles from the third failure in a row, up to a minute", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const backoff = new RestartBackoff();
  const delays = Array.from({ length: 12 }, () => {
    backoff.recordFailure("shop");
    return backoff.delayMs("shop") / 1000;
  });
  expect(delays).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
});

test("the delay ends with the time, and applies to one app only", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const backoff = new RestartBackoff();
  for (let n = 0; n < 4; n++) backoff.recordFailure("shop");
  expect([backoff.delayMs("shop"), backoff.delayMs("other")]).toEqual([2000, 0]);
  vi.advanceTimersByTime(1500);
  expect(backoff.delayMs("shop")).toBe(500);
  vi.advanceTimersByTime(1000);
  expect(backoff.delayMs("shop")).toBe(0);
});

test("the count starts again a minute after the delay of the last failure has ended, and with a new version", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const backoff = new RestartBackoff();
  for (let n = 0; n < 4; n++) backoff.recordFailure("shop");
  vi.advanceTimersByTime(62_000);
  backoff.recordFailure("shop");
  expect(backoff.delayMs("shop")).toBe(4000);
  vi.advanceTimersByTime(64_001);
  backoff.recordFailure("shop");
  expect(backoff.delayMs("shop")).toBe(0);
  for (let n = 0; n < 3; n++) backoff.recordFailure("shop");
  backoff.reset("shop");
  expect(backoff.delayMs("shop")).toBe(0);
});
