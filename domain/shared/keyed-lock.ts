import { raceWithSignal } from "./race-with-signal.ts";

/** A mutex per key. The callers of one key run one at a time, in the order of their calls. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` while holding the locks of all `keys`, as `acquire` does. `work` must not lock a key itself.
   *
   * @param signal - ends the wait; it has no effect while `work` runs
   * @throws the reason of the signal
   */
  async run<T>(keys: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const { turn, release } = this.#queue(keys);
    try {
      await (signal === undefined ? turn : raceWithSignal(turn, signal));
    } catch (error) {
      // Later callers still wait for the earlier ones.
      void turn.then(release);
      throw error;
    }
    try {
      return await work();
    } finally {
      release();
    }
  }

  /**
   * Waits for the locks of all `keys`. One synchronous step queues for all of them, so callers with several keys in common
   * cannot deadlock.
   *
   * @returns a function that releases the locks; further calls of it have no effect
   */
  async acquire(keys: readonly string[]): Promise<() => void> {
    const { turn, release } = this.#queue(keys);
    await turn;
    return release;
  }

  #queue(keys: readonly string[]): { turn: Promise<unknown>; release: () => void } {
    const turn = Promise.all(keys.map((key) => this.#tails.get(key) ?? Promise.resolve()));
    const { promise: done, resolve } = Promise.withResolvers<void>();
    for (const key of keys) this.#tails.set(key, done);
    const release = (): void => {
      resolve();
      for (const key of keys) if (this.#tails.get(key) === done) this.#tails.delete(key);
    };
    return { turn, release };
  }

  /** Resolves when no key is locked or waited for. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
