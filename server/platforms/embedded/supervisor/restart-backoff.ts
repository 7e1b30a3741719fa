const MEMORY_MS = 60_000;
/** An app may fail this often before it has to wait. */
const FREE_FAILURES = 2;
const LONGEST_WAIT_MS = 60_000;

interface Failures {
  count: number;
  lastAt: number;
}

/**
 * Keeps an app that fails again and again from being started again and again: after the third failure in a row it waits
 * 1 s, then 2 s, 4 s, up to a minute. A minute without a failure is forgotten.
 */
export class RestartBackoff {
  readonly #failures = new Map<string, Failures>();

  record(slug: string): void {
    this.#prune();
    const earlier = this.#failures.get(slug);
    this.#failures.set(slug, { count: (earlier?.count ?? 0) + 1, lastAt: Date.now() });
  }

  /** A new version starts with a clean slate. */
  forget(slug: string): void {
    this.#failures.delete(slug);
  }

  /** Milliseconds until the app may be started; 0 for now. */
  waitMs(slug: string): number {
    const failures = this.#failures.get(slug);
    return failures ? Math.max(0, failures.lastAt + backOffMs(failures.count) - Date.now()) : 0;
  }

  #prune(): void {
    for (const [slug, { count, lastAt }] of this.#failures)
      if (Date.now() - lastAt > MEMORY_MS + backOffMs(count)) this.#failures.delete(slug);
  }
}

function backOffMs(count: number): number {
  return count <= FREE_FAILURES ? 0 : Math.min(LONGEST_WAIT_MS, 1000 * 2 ** (count - FREE_FAILURES - 1));
}
