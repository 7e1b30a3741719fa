import { vi } from "vitest";

/** A machine that runs CI may be several times slower than another one, or busy with other things. */
const FACTOR = process.env["CI"] === undefined ? 1 : 3;

/** The limits that end a test, or one wait in it, for what never happens. No test has its own, because that asserts a time. */
export const TEST_LIMIT_MS = 400_000 * FACTOR;
export const WAIT_LIMIT_MS = 100_000 * FACTOR;

/**
 * Repeats a check until it does not throw.
 *
 * @returns what the check returns
 * @throws the last error of the check, after `WAIT_LIMIT_MS`
 */
export function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: WAIT_LIMIT_MS, interval: 20 });
}
