/** A value, and the version of what it was read from, both of one moment. */
export interface Versioned<V> {
  version: string;
  value: V;
}

export interface Source<V> {
  /** What the version is now: the same again only when the value is. */
  version(): Promise<string>;
  read(): Promise<Versioned<V>>;
}

/** Values that are kept for as long as what they were read from has the same version. Who was read first goes first. */
export class VersionedCache<V> {
  readonly #limit: number;
  readonly #readings = new Map<string, Promise<Versioned<V>>>();

  /** @param limit - how many values are kept at most */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * The value as it is now or, when it changes in the meantime, as it comes to be. The same object while it stays.
   *
   * @throws what the source throws; a reading that failed is not kept
   */
  async of(key: string, source: Source<V>): Promise<V> {
    const known = this.#readings.get(key);
    if (known === undefined) return this.#read(key, source);
    const [version, kept] = await Promise.all([source.version(), known]);
    if (kept.version === version) return kept.value;
    const newer = this.#readings.get(key);
    // One that began since this was called for is new enough, and others wait for it already.
    return newer === undefined || newer === known ? this.#read(key, source) : (await newer).value;
  }

  async #read(key: string, source: Source<V>): Promise<V> {
    const reading = source.read();
    this.#readings.delete(key);
    this.#readings.set(key, reading);
    if (this.#readings.size > this.#limit) this.#readings.delete(this.#readings.keys().next().value ?? "");
    try {
      return (await reading).value;
    } catch (error) {
      if (this.#readings.get(key) === reading) this.#readings.delete(key);
      throw error;
    }
  }
}
