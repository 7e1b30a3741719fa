import { LRUCache } from "lru-cache";

/** A value, and the version of its source rows at the time of reading. */
export interface Versioned<V> {
  version: string;
  value: V;
}

export interface VersionedSource<V> {
  /** Reads the current version. Two reads return the same version only if the value is the same. */
  readVersion(): Promise<string>;
  /** Reads the value. Its version must not be newer than the value. */
  read(): Promise<Versioned<V>>;
}

/** A bounded LRU cache. An entry is valid while the version of its source rows is unchanged. */
export class VersionedCache<V> {
  /** Promises, so that concurrent calls share one read. */
  readonly #entries: LRUCache<string, Promise<Versioned<V>>>;

  constructor(options: { maxEntries: number }) {
    this.#entries = new LRUCache({ max: options.maxEntries });
  }

  /**
   * Returns the cached value if its version is still current, else reads it. The result is never older than the call.
   *
   * @throws the errors of the source; a failed read is not cached
   */
  async get(key: string, source: VersionedSource<V>): Promise<V> {
    const cached = this.#entries.get(key);
    if (cached === undefined) return this.#read(key, source);
    const [version, entry] = await Promise.all([source.readVersion(), cached]);
    if (entry.version === version) return entry.value;
    const latest = this.#entries.get(key);
    // Another call that found the same old version has started a read since this call began.
    if (latest !== undefined && latest !== cached) return (await latest).value;
    return this.#read(key, source);
  }

  async #read(key: string, source: VersionedSource<V>): Promise<V> {
    const reading = source.read();
    this.#entries.set(key, reading);
    try {
      return (await reading).value;
    } catch (error) {
      if (this.#entries.peek(key) === reading) this.#entries.delete(key);
      throw error;
    }
  }
}
