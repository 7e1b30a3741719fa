import { randomUUID } from "node:crypto";
import { constants, type Dirent } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import {
  ObjectMissing,
  type ObjectRange,
  type ObjectStore,
  type StoredObject,
} from "../../../domain/ports/object-store.ts";
import { syncToDisk } from "../../files/durable-files.ts";
import { isBucketName, keySegments, validateBucket } from "./object-names.ts";

/** Holds objects that are being written, and buckets that are being removed. It is not a valid bucket name. */
const STAGING = ".staging";

/** Entries older than this were left by a crash. */
const STAGING_HOURS = 1;

/** How often a write is repeated because its folder was removed: removing the last object of a folder removes it. */
const MAX_TRIES = 10;

/**
 * Stores objects as files, for a service on one machine. After a crash of the service, every object is complete. After
 * a power failure, the latest objects may be missing or empty unless they are durable: other files are not synced to disk,
 * because that would make writing thousands of small objects slow.
 */
export class FilesystemObjectStore implements ObjectStore {
  readonly #root: string;

  /** @param root - a folder for this store only; created by the first write */
  constructor(root: string) {
    this.#root = root;
  }

  async put(
    bucket: string,
    key: string,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    { durable = false }: { durable?: boolean } = {},
  ): Promise<void> {
    const target = this.#pathOf(bucket, key);
    const staged = this.#stagingPath();
    await this.#stage(staged, body, durable);
    await withParentFolder(target, () => rename(staged, target));
    if (durable) await this.#syncFolders(path.dirname(target));
  }

  async get(bucket: string, key: string): Promise<Uint8Array | null> {
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
    return defaultIfAbsent(null, readFile(this.#pathOf(bucket, key), { flag }));
  }

  async *read(bucket: string, key: string, range?: ObjectRange): AsyncGenerator<Uint8Array> {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
    await using file = await defaultIfAbsent(null, open(this.#pathOf(bucket, key), flags));
    if (file === null) throw new ObjectMissing(`The object ${key} does not exist`);
    const part = range === undefined ? {} : { start: range.offset, end: range.offset + range.length - 1 };
    yield* file.createReadStream({ autoClose: false, ...part });
  }

  async list(bucket: string): Promise<StoredObject[]> {
    validateBucket(bucket);
    const objects = await listObjects(path.join(this.#root, bucket), "");
    return objects.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async remove(bucket: string, key: string): Promise<void> {
    const target = this.#pathOf(bucket, key);
    await rm(target, { force: true });
    await removeEmptyFolders(path.dirname(target), this.#root);
  }

  async removeBucket(bucket: string): Promise<void> {
    validateBucket(bucket);
    const staged = this.#stagingPath();
    // Renamed first, so that readers see the whole bucket or none of it.
    await defaultIfAbsent(
      undefined,
      withParentFolder(staged, () => rename(path.join(this.#root, bucket), staged), 2),
    );
    await rm(staged, { recursive: true, force: true });
  }

  async listBuckets(): Promise<string[]> {
    await this.#removeStaleEntries();
    const entries = await defaultIfAbsent([], readdir(this.#root, { withFileTypes: true }));
    // An earlier version staged its files in another folder, which is not a bucket either.
    return entries.filter((entry) => entry.isDirectory() && isBucketName(entry.name)).map((entry) => entry.name);
  }

  async #stage(staged: string, body: Uint8Array | AsyncIterable<Uint8Array>, durable: boolean): Promise<void> {
    // Opened before the body is read, which may be possible only once.
    await using file = await withParentFolder(staged, () => open(staged, "wx"));
    try {
      await file.writeFile(body);
      if (durable) await file.sync();
    } catch (error) {
      await rm(staged, { force: true });
      throw error;
    }
  }

  #pathOf(bucket: string, key: string): string {
    validateBucket(bucket);
    return path.join(this.#root, bucket, keyToPath(key));
  }

  #stagingPath(): string {
    return path.join(this.#root, STAGING, randomUUID());
  }

  /** Writes the names in a folder, and in those above it, to disk: an object can be the first one of its bucket. */
  async #syncFolders(folder: string): Promise<void> {
    // The folder is removed with its last object.
    await defaultIfAbsent(undefined, syncToDisk(folder));
    if (folder !== this.#root) await this.#syncFolders(path.dirname(folder));
  }

  async #removeStaleEntries(): Promise<void> {
    const staging = path.join(this.#root, STAGING);
    const oldestMs = Date.now() - STAGING_HOURS * 3_600_000;
    for (const name of await defaultIfAbsent([], readdir(staging))) {
      const entry = path.join(staging, name);
      const stat = await defaultIfAbsent(null, lstat(entry));
      if (stat !== null && stat.ctimeMs < oldestMs) await rm(entry, { recursive: true, force: true });
    }
  }
}

/**
 * Creates the parent folder of `target` only when `write` fails without it, which is rare. A removal of the last object in a
 * folder removes the folder at any moment, even while it is being created (`mkdir` then fails with ENOTDIR), so both steps
 * are tried again.
 */
async function withParentFolder<T>(target: string, write: () => Promise<T>, tries = MAX_TRIES): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      if (failures > 0) await mkdir(path.dirname(target), { recursive: true });
      return await write();
    } catch (error) {
      const isFolderMissing = isAbsent(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR";
      if (!isFolderMissing || failures + 1 >= tries) throw error;
    }
  }
}

/** Entries that are neither folders nor files, such as links, are skipped. */
async function listObjects(folder: string, prefix: string): Promise<StoredObject[]> {
  const entries = await defaultIfAbsent<Dirent[]>([], readdir(folder, { withFileTypes: true }));
  const objects = await Promise.all(
    entries.map(async (entry) => {
      const entryPath = path.join(folder, entry.name);
      const key = prefix + nameToSegment(entry.name);
      if (entry.isDirectory()) return listObjects(entryPath, `${key}/`);
      const stat = entry.isFile() ? await defaultIfAbsent(null, lstat(entryPath)) : null;
      return stat === null ? [] : [{ key, size: stat.size }];
    }),
  );
  return objects.flat();
}

async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  if (folder === root) return;
  try {
    await rmdir(folder);
  } catch (error) {
    if (!isAbsent(error)) return;
  }
  await removeEmptyFolders(path.dirname(folder), root);
}

async function defaultIfAbsent<T>(fallback: T, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    if (isAbsent(error)) return fallback;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/**
 * Returns the path of an object, relative to the folder of its bucket. Folder names have the prefix `+`, so that `a`
 * and `a/b` can both be objects, as in any object store.
 *
 * @throws when `key` is invalid
 */
function keyToPath(key: string): string {
  const segments = keySegments(key);
  const folders = segments.slice(0, -1).map((folder) => `+${folder}`);
  return [...folders, (segments.at(-1) ?? "").replace(/^[+=]/, "=$&")].join("/");
}

/** Returns the key segment of a file or folder name: the reverse of `keyToPath`. */
function nameToSegment(name: string): string {
  return name.replace(/^[+=]/, "");
}
