const MINUTE_MS = 60_000;

/** Bounds how often a message is logged that untrusted code can cause: some times in each minute, for each key. */
export class LogLimit {
  readonly #perMinute: number;
  readonly #counts = new Map<string, number>();
  #minute = 0;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Returns fields for the log entry, which say if it is the last of this minute; `null` if it must not be logged. */
  admit(key: string): { note?: string } | null {
    const minute = Math.floor(Date.now() / MINUTE_MS);
    if (minute !== this.#minute) this.#counts.clear();
    this.#minute = minute;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (count > this.#perMinute) return null;
    return count === this.#perMinute ? { note: "further ones of this minute are not logged" } : {};
  }
}
