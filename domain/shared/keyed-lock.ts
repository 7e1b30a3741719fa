/** Lets one caller at a time through per key, in the order they came. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` while holding all `keys`. They are queued for in one step, so callers that share several keys meet in
   * the same order under each and cannot block each other for good. `work` must not ask for a key itself.
   */
  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const earlier = keys.map((key) => this.#tails.get(key) ?? Promise.resolve());
    const { promise: done, resolve } = Promise.withResolvers<void>();
    for (const key of keys) this.#tails.set(key, done);
    try {
      await Promise.all(earlier);
      return await work();
    } finally {
      resolve();
      for (const key of keys) if (this.#tails.get(key) === done) this.#tails.delete(key);
    }
  }

  /** Waits until nobody holds or waits for any key. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
