import { randomUUID } from "node:crypto";
import { constants, type Dirent } from "node:fs";
import { lstat, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ObjectStore, StoredObject } from "../../../domain/ports/object-store.ts";
import { checkBucket, pathOfKey, segmentOf } from "./object-paths.ts";

/** Not a bucket's name. Holds what is not yet, or no longer, an object. */
const LIMBO = ".limbo";
const LIMBO_HOURS = 1;

/** How often a folder may vanish under a write, because the last other object in it was removed just then. */
const MAX_TRIES = 10;

/**
 * Objects as files, for a service on one machine. A crash of the service leaves whole objects only; after a power
 * failure the youngest may be missing or empty, which is the price of writing thousands of small ones quickly.
 */
export class FilesystemObjectStore implements ObjectStore {
  readonly #root: string;

  /** @param root - a folder that holds nothing else; made when something is put */
  constructor(root: string) {
    this.#root = root;
  }

  async put(bucket: string, key: string, body: Uint8Array): Promise<void> {
    const target = this.#pathOf(bucket, key);
    const draft = this.#limbo();
    await withFolderOf(draft, () => writeFile(draft, body, { flag: "wx" }));
    await withFolderOf(target, () => rename(draft, target));
  }

  async get(bucket: string, key: string): Promise<Uint8Array | null> {
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
    return orIfAbsent(null, readFile(this.#pathOf(bucket, key), { flag }));
  }

  async list(bucket: string): Promise<StoredObject[]> {
    checkBucket(bucket);
    const objects = await objectsIn(path.join(this.#root, bucket), "");
    return objects.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async remove(bucket: string, key: string): Promise<void> {
    const target = this.#pathOf(bucket, key);
    await rm(target, { force: true });
    await removeEmptyFolders(path.dirname(target), this.#root);
  }

  async removeBucket(bucket: string): Promise<void> {
    checkBucket(bucket);
    const doomed = this.#limbo();
    // In one step, so that nobody meets half a bucket.
    await orIfAbsent(
      undefined,
      withFolderOf(doomed, () => rename(path.join(this.#root, bucket), doomed), 2),
    );
    await rm(doomed, { recursive: true, force: true });
  }

  async listBuckets(): Promise<string[]> {
    await this.#forgetLimbo();
    const entries = await orIfAbsent([], readdir(this.#root, { withFileTypes: true }));
    return entries.filter((entry) => entry.isDirectory() && entry.name !== LIMBO).map((entry) => entry.name);
  }

  #pathOf(bucket: string, key: string): string {
    checkBucket(bucket);
    return path.join(this.#root, bucket, pathOfKey(key));
  }

  #limbo(): string {
    return path.join(this.#root, LIMBO, randomUUID());
  }

  /** Removes what a crash left there. */
  async #forgetLimbo(): Promise<void> {
    const limbo = path.join(this.#root, LIMBO);
    const eldest = Date.now() - LIMBO_HOURS * 3_600_000;
    for (const name of await orIfAbsent([], readdir(limbo))) {
      const entry = path.join(limbo, name);
      const stat = await orIfAbsent(null, lstat(entry));
      if (stat !== null && stat.ctimeMs < eldest) await rm(entry, { recursive: true, force: true });
    }
  }
}

/** Makes the folder of `target` only when `write` finds it missing, which is seldom. */
async function withFolderOf(target: string, write: () => Promise<void>, tries = MAX_TRIES): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isAbsence(error) || tries <= 1) throw error;
    await mkdir(path.dirname(target), { recursive: true });
    await withFolderOf(target, write, tries - 1);
  }
}

/** Whatever is neither a folder nor a file, such as a link, is no object. */
async function objectsIn(folder: string, prefix: string): Promise<StoredObject[]> {
  const entries = await orIfAbsent<Dirent[]>([], readdir(folder, { withFileTypes: true }));
  const found = await Promise.all(
    entries.map(async (entry) => {
      const [place, key] = [path.join(folder, entry.name), prefix + segmentOf(entry.name)];
      if (entry.isDirectory()) return objectsIn(place, `${key}/`);
      const stat = entry.isFile() ? await orIfAbsent(null, lstat(place)) : null;
      return stat === null ? [] : [{ key, size: stat.size }];
    }),
  );
  return found.flat();
}

async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  if (folder === root) return;
  try {
    await rmdir(folder);
  } catch (error) {
    if (!isAbsence(error)) return;
  }
  await removeEmptyFolders(path.dirname(folder), root);
}

async function orIfAbsent<T>(otherwise: T, found: Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if (isAbsence(error)) return otherwise;
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
