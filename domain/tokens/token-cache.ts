import { LRUCache } from "lru-cache";

/** How long a result is used, in milliseconds: the latest time at which an unannounced revocation takes effect. */
const TTL_MS = 5000;
const MAX_ENTRIES = 10_000;

/** A bounded LRU cache of what tokens and signed-in users resolve to. Every entry lives at most 5 s, by the monotonic clock. */
export class TokenCache<T extends object> {
  // By default lru-cache reads the clock once per millisecond, which in a busy event loop can be much longer.
  readonly #entries = new LRUCache<string, T>({ max: MAX_ENTRIES, ttl: TTL_MS, ttlResolution: 0 });
  /** Incremented by `clear`, so that the result of a lookup that began earlier is not stored. */
  #generation = 0;

  /**
   * Returns the cached value of `key`, else the result of `load`. `null` is not stored: guessed tokens must not evict valid
   * ones.
   *
   * @param getMaxAgeMs - the time until a value expires by itself; a value that is at its end is not stored
   */
  async get(
    key: string,
    load: () => Promise<T | null>,
    getMaxAgeMs: (value: T) => number = () => TTL_MS,
  ): Promise<T | null> {
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached;
    const generation = this.#generation;
    const value = await load();
    if (value === null || generation !== this.#generation) return value;
    const ttl = Math.min(TTL_MS, getMaxAgeMs(value));
    // For lru-cache, a ttl of 0 means that the entry never expires.
    if (ttl > 0) this.#entries.set(key, value, { ttl });
    return value;
  }

  /** Removes every entry, so that a change takes effect in this process at once. */
  clear(): void {
    this.#generation += 1;
    this.#entries.clear();
  }
}
