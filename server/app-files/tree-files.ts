import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, opendir, readlink } from "node:fs/promises";

/**
 * The path of a file below a folder, as the bytes of its name in Latin-1. Apps can give names to files that are not UTF-8.
 */
export type TreePath = string;

/** One entry of a tree. A parent comes before what it contains. */
export type TreeEntry = { path: TreePath; mode: number } & (
  | { kind: "folder" }
  | { kind: "file"; modifiedAt: number; file: FileHandle }
  | { kind: "link"; target: string }
);

const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** A named pipe does not block. */
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Without the bits that change the user of a program. */
const PERMISSIONS = 0o777;
/** Longer paths cannot be restored: the kernel accepts 4096 bytes, with the path of the data folder. */
const MAX_PATH_BYTES = 3000;
/** What happens when the entry was removed or replaced since its folder was read. */
const VANISHED = ["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"];

export interface WalkOptions {
  /** Whether an entry and its content are left out. */
  isExcluded(path: TreePath): boolean;
  /** Called for entries that cannot be in a backup: sockets, devices, and paths that are too long. */
  onSkipped(path: TreePath): void;
}

/**
 * Walks through the files below a folder while programs may be changing it. Follows no link: each folder is opened below the one
 * before. Entries that vanish are left out. The handle of a file is valid until the next entry.
 */
export async function* walkTree(folder: string, options: WalkOptions): AsyncGenerator<TreeEntry> {
  const root = await openFolder(folder);
  if (root === null) return;
  await using _ = root;
  yield* walkFolder(root, "", options);
}

async function* walkFolder(parent: FileHandle, prefix: TreePath, options: WalkOptions): AsyncGenerator<TreeEntry> {
  for (const name of await namesIn(parent)) {
    const path = prefix + name;
    if (options.isExcluded(path)) continue;
    const real = pathBelow(parent, name);
    const stats = await orNull(lstat(real));
    if (stats === null) continue;
    if (path.length > MAX_PATH_BYTES) options.onSkipped(path);
    else if (stats.isSymbolicLink()) yield* linkEntry(path, real, stats);
    else if (stats.isDirectory()) yield* folderEntry(path, real, stats, options);
    else if (stats.isFile()) yield* fileEntry(path, real);
    else options.onSkipped(path);
  }
}

async function namesIn(folder: FileHandle): Promise<string[]> {
  const names: string[] = [];
  const entries = await opendir(`/proc/self/fd/${folder.fd}`, { encoding: "latin1" as BufferEncoding });
  for await (const { name } of entries) names.push(name);
  return names.toSorted();
}

async function* folderEntry(
  path: TreePath,
  real: Buffer,
  { mode }: Stats,
  options: WalkOptions,
): AsyncGenerator<TreeEntry> {
  const folder = await orNull(open(real, FOLDER_FLAGS));
  if (folder === null) return;
  await using _ = folder;
  yield { kind: "folder", path, mode: mode & PERMISSIONS };
  yield* walkFolder(folder, `${path}/`, options);
}

async function* fileEntry(path: TreePath, real: Buffer): AsyncGenerator<TreeEntry> {
  const file = await orNull(open(real, FILE_FLAGS));
  if (file === null) return;
  await using _ = file;
  const stats = await file.stat();
  // It may have been replaced since.
  if (stats.isFile())
    yield { kind: "file", path, mode: stats.mode & PERMISSIONS, modifiedAt: Math.floor(stats.mtimeMs), file };
}

async function* linkEntry(path: TreePath, real: Buffer, { mode }: Stats): AsyncGenerator<TreeEntry> {
  const target = await orNull(readlink(real, { encoding: "latin1" }));
  if (target !== null) yield { kind: "link", path, mode: mode & PERMISSIONS, target };
}

function pathBelow({ fd }: FileHandle, name: string): Buffer {
  return Buffer.from(`/proc/self/fd/${fd}/${name}`, "latin1");
}

/** Opens a folder, unless it is a link or does not exist. */
export function openFolder(folder: string): Promise<FileHandle | null> {
  return orNull(open(folder, FOLDER_FLAGS));
}

/** The path of an entry for functions of Node. */
export function bytesOf(path: TreePath): Buffer {
  return Buffer.from(path, "latin1");
}

/** Reads an open file from its beginning, without closing it. */
export async function* readOpenFile(file: FileHandle): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(256 * 1024);
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function orNull<T>(operation: Promise<T>): Promise<T | null> {
  return operation.catch((error: NodeJS.ErrnoException) => {
    if (VANISHED.includes(error.code ?? "")) return null;
    throw error;
  });
}
