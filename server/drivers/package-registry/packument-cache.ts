import { LRUCache } from "lru-cache";
import type { Packument } from "./packument.ts";

const FRESH_MS = 5 * 60_000;
const CAPACITY_BYTES = 64 * 1024 * 1024;

interface Entry {
  packument: Packument;
  fetchedAt: number;
}

/** A memory cache of packuments, bounded by their size, so that consecutive installs do not parse them again. */
export class PackumentCache {
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: CAPACITY_BYTES,
    sizeCalculation: ({ packument }) => packument.body.length,
  });

  /** Returns the packument if the registry sent it in the last 5 minutes. */
  getFresh(name: string): Packument | null {
    const entry = this.#entries.get(name);
    return entry && Date.now() - entry.fetchedAt < FRESH_MS ? entry.packument : null;
  }

  /** Returns the packument whatever its age. */
  get(name: string): Packument | null {
    return this.#entries.get(name)?.packument ?? null;
  }

  /** @param fetchedAt - when the registry sent it, in milliseconds since the epoch; 0 if it was read from disk */
  set(name: string, packument: Packument, fetchedAt: number): void {
    this.#entries.set(name, { packument, fetchedAt });
  }
}
