import { vi } from "vitest";

/**
 * Stops the monotonic clock of this process until disposal, so that no cached token or membership expires. A test that then
 * sees a revocation shows that the process was notified.
 */
export function stopMonotonicClock(): Disposable {
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  return { [Symbol.dispose]: () => clock.mockRestore() };
}
