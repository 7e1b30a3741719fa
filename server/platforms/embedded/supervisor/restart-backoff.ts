import { backOffMs } from "../../../../domain/shared/back-off.ts";

const RESET_MS = 60_000;
/** How many failures in a row cause no delay. */
const FREE_FAILURES = 2;
const BACK_OFF = { first: 1000, max: 60_000 };

interface Failures {
  count: number;
  lastAt: number;
}

/**
 * Delays the restart of apps that fail repeatedly: 1 s after the third failure in a row, then 2 s, 4 s, up to a minute.
 * The count starts again after a minute without a failure.
 */
export class RestartBackoff {
  readonly #failures = new Map<string, Failures>();

  recordFailure(slug: string): void {
    this.#prune();
    const earlier = this.#failures.get(slug);
    this.#failures.set(slug, { count: (earlier?.count ?? 0) + 1, lastAt: Date.now() });
  }

  /** Resets the count of an app, for example when a new version replaces it. */
  reset(slug: string): void {
    this.#failures.delete(slug);
  }

  /** Milliseconds until the app may be started; 0 if it may be started now. */
  delayMs(slug: string): number {
    const failures = this.#failures.get(slug);
    return failures ? Math.max(0, failures.lastAt + delayAfter(failures.count) - Date.now()) : 0;
  }

  #prune(): void {
    for (const [slug, { count, lastAt }] of this.#failures)
      if (Date.now() - lastAt > RESET_MS + delayAfter(count)) this.#failures.delete(slug);
  }
}

function delayAfter(failures: number): number {
  return failures <= FREE_FAILURES ? 0 : backOffMs(failures - FREE_FAILURES - 1, BACK_OFF);
}
