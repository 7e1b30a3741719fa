import { randomUUID } from "node:crypto";
import { chmod, lchown, lstat, mkdir, readdir, rename, utimes } from "node:fs/promises";
import path from "node:path";
import type { DependencyCache } from "../../../../domain/ports/dependency-cache.ts";
import { syncToDisk } from "../../../files/durable-files.ts";
import { nullIfMissing } from "../../../files/missing-file.ts";
import { removeTree } from "../../../files/remove-tree.ts";

export interface StoreLimits {
  /** The size of what one organization has stored. */
  organizationBytes: number;
  organizationEntries: number;
  /** The size of what all organizations have stored. */
  bytes: number;
}

const DEFAULT_LIMITS: StoreLimits = {
  organizationBytes: 4 * 1024 ** 3,
  organizationEntries: 20,
  bytes: 20 * 1024 ** 3,
};

/** The file of an entry that lists its packages. The service writes it. */
export const PACKAGE_LIST = "packages.json";

/** The only files of an entry. */
const FILES: ReadonlySet<string> = new Set(["source.tar", "scratch.tar", PACKAGE_LIST]);

/** Entries that are being written. No organization has this name. */
const INCOMING = ".incoming";

interface StoredEntry {
  organizationId: string;
  folder: string;
  bytes: number;
  /** In milliseconds since the epoch. */
  usedAt: number;
}

/**
 * Installed dependencies on disk: one folder for each organization, with one folder for each entry. An entry consists of
 * archives that a sandbox wrote and only sandboxes read, and of the list of its packages. An entry is complete or absent, also after a crash. The least
 * recently used entries are evicted. Only one process may use the folder.
 */
export class DependencyStore implements DependencyCache {
  readonly #root: string;
  readonly #limits: StoreLimits;
  /** The entries that are not on disk yet, by their folder. */
  readonly #pending = new Map<string, Promise<void>>();
  #cleared: Promise<void> | null = null;

  constructor(root: string, limits: Partial<StoreLimits> = {}) {
    this.#root = root;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** Returns the folder of an entry, or `null` if there is none. The entry can be evicted at any time. */
  async find(organizationId: string, key: string): Promise<string | null> {
    const folder = this.#folderOf(organizationId, key);
    await this.#pending.get(folder);
    const now = new Date();
    const found = await utimes(folder, now, now).then(
      () => true,
      (error: unknown) => nullIfMissing(error) !== null,
    );
    return found ? folder : null;
  }

  /** Creates an empty folder for the archives of an entry. Pass it to `add` or to `discard`. */
  async prepare(): Promise<string> {
    const incoming = path.join(this.#root, INCOMING);
    // A crash leaves incomplete entries.
    this.#cleared ??= removeTree(incoming);
    await this.#cleared;
    const folder = path.join(incoming, randomUUID());
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /**
   * Adds the archives in a folder of `prepare`. Returns before they are safe on disk, because that takes longer than the
   * rest of some builds. No process may be using the folder.
   *
   * @param onFailure - called if the entry could not be added
   */
  add(organizationId: string, key: string, prepared: string, onFailure: (error: unknown) => void): void {
    const folder = this.#folderOf(organizationId, key);
    const earlier = this.#pending.get(folder) ?? Promise.resolve();
    const adding = earlier
      .then(() => this.#commit(prepared, folder))
      .then(() => this.#evict())
      .catch(async (error: unknown) => {
        await removeTree(prepared);
        onFailure(error);
      })
      .finally(() => {
        if (this.#pending.get(folder) === adding) this.#pending.delete(folder);
      });
    this.#pending.set(folder, adding);
  }

  /** Removes a folder that `prepare` or `find` returned. */
  async discard(folder: string): Promise<void> {
    await removeTree(folder);
  }

  async remove(organizationId: string): Promise<void> {
    const folder = this.#folderOf(organizationId, ".");
    await Promise.all(
      [...this.#pending].filter(([entry]) => path.dirname(entry) === folder).map(([, adding]) => adding),
    );
    await removeTree(folder);
  }

  async list(): Promise<string[]> {
    const names = (await readdir(this.#root).catch(nullIfMissing)) ?? [];
    return names.filter((name) => name !== INCOMING);
  }

  /** Waits until all added entries are on disk. */
  async close(): Promise<void> {
    await Promise.all(this.#pending.values());
  }

  #folderOf(organizationId: string, key: string): string {
    if (!/^[\w-]+$/.test(organizationId)) throw new Error("The id of the organization cannot be the name of a folder");
    return path.join(this.#root, organizationId, key);
  }

  async #commit(prepared: string, folder: string): Promise<void> {
    await takeOver(prepared);
    await mkdir(path.dirname(folder), { recursive: true, mode: 0o700 });
    await rename(prepared, folder).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
      // Another build of the organization was first. Its entry has the same content.
      await removeTree(prepared);
    });
    await syncToDisk(path.dirname(folder));
  }

  async #evict(): Promise<void> {
    const kept = new Map<string, { bytes: number; count: number }>();
    let bytes = 0;
    for (const entry of (await this.#listEntries()).toSorted((a, b) => b.usedAt - a.usedAt)) {
      const own = kept.get(entry.organizationId) ?? { bytes: 0, count: 0 };
      const isKept =
        own.count < this.#limits.organizationEntries &&
        own.bytes + entry.bytes <= this.#limits.organizationBytes &&
        bytes + entry.bytes <= this.#limits.bytes;
      if (!isKept) {
        await removeTree(entry.folder);
        continue;
      }
      bytes += entry.bytes;
      kept.set(entry.organizationId, { bytes: own.bytes + entry.bytes, count: own.count + 1 });
    }
  }

  async #listEntries(): Promise<StoredEntry[]> {
    const entries: StoredEntry[] = [];
    for (const organizationId of await this.list()) {
      const own = path.join(this.#root, organizationId);
      for (const key of (await readdir(own).catch(nullIfMissing)) ?? []) {
        const folder = path.join(own, key);
        const status = await lstat(folder).catch(nullIfMissing);
        if (status === null) continue;
        entries.push({ organizationId, folder, bytes: await sizeOf(folder), usedAt: status.mtimeMs });
      }
    }
    return entries;
  }
}

/**
 * Makes the service the owner of a folder that a sandbox filled, and writes it to disk.
 *
 * @throws when the folder contains anything but the files of an entry
 */
async function takeOver(folder: string): Promise<void> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    if (!FILES.has(name) || !(await lstat(file)).isFile()) throw new Error(`${name} is not a file of an entry`);
    await lchown(file, uid, gid);
    // Sandboxes have other users. The folder of the organization excludes all others.
    await chmod(file, 0o644);
    await syncToDisk(file);
  }
  await lchown(folder, uid, gid);
  await chmod(folder, 0o755);
  await syncToDisk(folder);
}

async function sizeOf(folder: string): Promise<number> {
  const names = (await readdir(folder).catch(nullIfMissing)) ?? [];
  const statuses = await Promise.all(names.map((name) => lstat(path.join(folder, name)).catch(nullIfMissing)));
  return statuses.reduce((sum, status) => sum + (status?.size ?? 0), 0);
}
