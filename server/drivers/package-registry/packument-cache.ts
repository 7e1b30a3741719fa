import type { Packument } from "./packument.ts";

const FRESH_MS = 5 * 60_000;
const CAPACITY_BYTES = 64 * 1024 * 1024;

interface Entry {
  packument: Packument;
  askedAt: number;
}

/** The packuments that were read last, within a bound on their size, so that builds in a row need not read them again. */
export class PackumentCache {
  /** In the order of their use, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** One that the registry gave within the last minutes. */
  fresh(name: string): Packument | null {
    const entry = this.#entries.get(name);
    return entry && Date.now() - entry.askedAt < FRESH_MS ? this.any(name) : null;
  }

  /** One of any age. */
  any(name: string): Packument | null {
    const entry = this.#entries.get(name);
    if (!entry) return null;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry.packument;
  }

  /** @param askedAt - when the registry was asked for it, in milliseconds since the epoch; 0 when it is from the disk */
  keep(name: string, packument: Packument, askedAt: number): void {
    this.#forget(name);
    this.#entries.set(name, { packument, askedAt });
    this.#bytes += packument.body.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= CAPACITY_BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    this.#bytes -= this.#entries.get(name)?.packument.body.length ?? 0;
    this.#entries.delete(name);
  }
}
