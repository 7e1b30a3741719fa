import { onTestFinished, vi } from "vitest";

/** Stops intervals until the end of the test. Only `vi.advanceTimersByTime` and the like run them. */
export function fakeIntervals(): void {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
}
