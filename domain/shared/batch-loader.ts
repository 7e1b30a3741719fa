type Waiting<V> = Map<string, PromiseWithResolvers<V>>;

/**
 * Reads values one by one for its callers, and together from where they are: what is asked for while a reading is under
 * way is read in one go when that has ended. Nobody gets what was read before they asked.
 */
export class BatchLoader<V> {
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;
  readonly #absent: V;
  #waiting: Waiting<V> = new Map();
  #isReading = false;

  /** @param absent - the value of a key that `read` says nothing of */
  constructor(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>, absent: V) {
    this.#read = read;
    this.#absent = absent;
  }

  /** @throws what the reading throws, for everybody who waited for it */
  of(key: string): Promise<V> {
    const known = this.#waiting.get(key);
    if (known !== undefined) return known.promise;
    const asked = Promise.withResolvers<V>();
    this.#waiting.set(key, asked);
    if (!this.#isReading) void this.#readAll();
    return asked.promise;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    // Whoever asks in the same moment is read for at once.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const batch = this.#waiting;
      this.#waiting = new Map();
      await this.#settle(batch);
    }
    this.#isReading = false;
  }

  async #settle(batch: Waiting<V>): Promise<void> {
    try {
      const values = await this.#read([...batch.keys()]);
      for (const [key, { resolve }] of batch) resolve(values.get(key) ?? this.#absent);
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }
}
