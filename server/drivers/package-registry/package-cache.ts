import { readdir, rm, stat, utimes } from "node:fs/promises";
import path from "node:path";
import { nullIfMissing } from "../../files/missing-file.ts";

/** After an eviction, this share of the limit is in use. */
const SHARE_KEPT = 0.9;
/** The cache is measured again when this share of the limit has been added. */
const SHARE_ADDED = 1 / 64;
/** Longer than any install may run. */
const LONGEST_DOWNLOAD_MS = 3_600_000;

interface CachedContent {
  integrity: string;
  path: string;
  size: number;
  keys: string[];
  /** In milliseconds since the epoch. */
  usedAt: number;
}

/**
 * The responses of the registries on disk, in the format of npm's cache. Evicts the least recently used ones when they
 * exceed the limit. The modification time of a file is the time of its last use, so that processes can share the folder.
 */
export class PackageCache {
  readonly folder: string;
  readonly #maxBytes: number;
  #addedBytes = 0;
  readonly #addedKeys = new Set<string>();
  #hasMeasured = false;
  #trimming: Promise<void> | null = null;

  constructor(folder: string, maxBytes: number) {
    this.folder = folder;
    this.#maxBytes = maxBytes;
  }

  /** Records the use of the response that is stored under `key`. */
  async recordUse(key: string): Promise<void> {
    const cacache = await importCacache();
    const entry = await cacache.get.info(this.folder, key);
    const now = new Date();
    if (entry) await utimes(entry.path, now, now).catch(nullIfMissing);
  }

  /** Records a response that is being stored under `key`. */
  recordAddition(key: string, bytes: number): void {
    this.#addedKeys.add(key);
    this.#addedBytes += bytes;
  }

  /** Evicts responses if the cache may have grown beyond its limit. */
  async trim(): Promise<void> {
    // A response that equals a stored one leaves its file unchanged, so its use is recorded here.
    for (const key of this.#addedKeys) {
      this.#addedKeys.delete(key);
      await this.recordUse(key);
    }
    const isDue = this.#addedBytes > (this.#hasMeasured ? this.#maxBytes * SHARE_ADDED : 0);
    if (isDue) this.#trimming ??= this.#evict().finally(() => (this.#trimming = null));
    await this.#trimming;
  }

  async #evict(): Promise<void> {
    this.#addedBytes = 0;
    const contents = await this.#list();
    this.#hasMeasured = true;
    let total = contents.reduce((sum, { size }) => sum + size, 0);
    if (total <= this.#maxBytes) return;
    await this.#removeIncomplete();
    const cacache = await importCacache();
    for (const { integrity, keys, size } of contents.toSorted((a, b) => a.usedAt - b.usedAt)) {
      if (total <= this.#maxBytes * SHARE_KEPT) return;
      // The keys first: a key without its content would make a read fail.
      for (const key of keys) await cacache.rm.entry(this.folder, key, { removeFully: true });
      await cacache.rm.content(this.folder, integrity);
      total -= size;
    }
  }

  /** Removes the downloads that a crash interrupted. */
  async #removeIncomplete(): Promise<void> {
    const folder = path.join(this.folder, "tmp");
    for (const name of (await readdir(folder).catch(nullIfMissing)) ?? []) {
      const stats = await stat(path.join(folder, name)).catch(nullIfMissing);
      const isOld = stats !== null && Date.now() - stats.mtimeMs > LONGEST_DOWNLOAD_MS;
      if (isOld) await rm(path.join(folder, name), { recursive: true, force: true });
    }
  }

  async #list(): Promise<CachedContent[]> {
    const contents = new Map<string, CachedContent>();
    const cacache = await importCacache();
    for await (const { key, integrity, path: file } of cacache.ls.stream(this.folder)) {
      const known = contents.get(file);
      if (known) known.keys.push(key);
      const stats = known ? null : await stat(file).catch(nullIfMissing);
      if (stats) contents.set(file, { integrity, path: file, size: stats.size, keys: [key], usedAt: stats.mtimeMs });
    }
    return [...contents.values()];
  }
}

/** The library is imported with the first install, because it is one of many modules that a start does not need. */
async function importCacache() {
  const { default: cacache } = await import("cacache");
  return cacache;
}
