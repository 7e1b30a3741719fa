import { LRUCache } from "lru-cache";

/**
 * How long a result is cached, in milliseconds. A revocation takes effect after this time even if its announcement is
 * lost.
 */
const TTL_MS = 5000;
const MAX_ENTRIES = 10_000;

interface Entry<T> {
  value: T;
  generation: number;
}

/**
 * A bounded LRU cache of the results for tokens and signed-in users. An entry expires after at most 5 s, by the
 * monotonic clock.
 */
export class TokenCache<T extends object> {
  // By default lru-cache reads the clock once per millisecond, which in a busy event loop can be much longer.
  readonly #entries = new LRUCache<string, Entry<T>>({ max: MAX_ENTRIES, ttl: TTL_MS, ttlResolution: 0 });
  /** Entries of an earlier generation are invalid. `LRUCache.clear` would overwrite all 10,000 slots at each revocation. */
  #generation = 0;

  /**
   * Returns the cached value of `key`, else the result of `load`. `null` is not stored: guessed tokens must not evict
   * valid ones.
   *
   * @param getMaxAgeMs - the time until the value itself expires; an expired value is not stored
   */
  async get(
    key: string,
    load: () => Promise<T | null>,
    getMaxAgeMs: (value: T) => number = () => TTL_MS,
  ): Promise<T | null> {
    const cached = this.#entries.get(key);
    if (cached?.generation === this.#generation) return cached.value;
    const generation = this.#generation;
    const value = await load();
    // The result of a lookup that began before a revocation may be outdated, so it is not stored.
    if (value === null || generation !== this.#generation) return value;
    const ttl = Math.min(TTL_MS, getMaxAgeMs(value));
    // For lru-cache, a ttl of 0 means that the entry never expires.
    if (ttl > 0) this.#entries.set(key, { value, generation }, { ttl });
    return value;
  }

  /** Invalidates every entry, so that a change takes effect in this process at once. */
  clear(): void {
    this.#generation += 1;
  }
}
