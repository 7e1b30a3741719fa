import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { WORKSPACE_LIMITS } from "../../../domain/ports/agent-workspaces.ts";
import type { ArchiveEntry } from "./archive-format.ts";

/** How many files are examined, and how many bytes read, before other work of the service gets its turn. */
const ENTRIES_PER_TURN = 100;
const BYTES_PER_TURN = 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const MEBIBYTE = 1024 * 1024;
const TOO_MANY = `It has more than ${WORKSPACE_LIMITS.entries} files and folders. Remove some.`;

/** The last time that an ISO 8601 date with four digits for the year can express. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export interface ScannedTree {
  /** Sorted by path. If there are too many, only some. */
  entries: ArchiveEntry[];
  /** How many entries are not regular files or folders, or have a path that is not UTF-8 or too long. */
  omitted: number;
  /** Which limit of a workspace the tree exceeds; `null` for none. */
  problem: string | null;
}

/**
 * Lists the files and folders below a folder that untrusted code has filled. No process may be using it. Links are not
 * followed. File system calls are synchronous, because asynchronous ones need ten times as much processor time.
 */
export async function scanTree(root: string): Promise<ScannedTree> {
  const entries: ArchiveEntry[] = [];
  let omitted = 0;
  const folders = [""];
  let examined = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of readdirSync(path.join(root, folder), { encoding: "buffer", withFileTypes: true })) {
      if (++examined % ENTRIES_PER_TURN === 0) await nextTurn();
      const relative = toPath(folder, entry.name);
      if (relative !== null && entry.isFile()) entries.push(describeFile(root, relative));
      else if (relative !== null && entry.isDirectory()) {
        entries.push([relative, null, 0]);
        folders.push(relative);
      } else omitted++;
      if (entries.length > WORKSPACE_LIMITS.entries) return { entries, omitted, problem: TOO_MANY };
    }
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return { entries, omitted, problem: sizeProblem(entries) };
}

/** Returns `null` for a name that is not UTF-8, or a path that is too long. */
function toPath(folder: string, name: Buffer): string | null {
  if (!isUtf8(name)) return null;
  const relative = path.posix.join(folder, name.toString());
  return Buffer.byteLength(relative) <= WORKSPACE_LIMITS.pathBytes ? relative : null;
}

function describeFile(root: string, relative: string): ArchiveEntry {
  const { size, mtimeMs } = lstatSync(path.join(root, relative));
  return [relative, size, Math.min(Math.max(0, Math.floor(mtimeMs)), LAST_TIME)];
}

function sizeProblem(entries: readonly ArchiveEntry[]): string | null {
  const { bytes: limit, blockBytes } = WORKSPACE_LIMITS;
  const bytes = entries.reduce((sum, [, size]) => sum + Math.ceil((size ?? 0) / blockBytes) * blockBytes, 0);
  if (bytes <= limit) return null;
  const needed = Math.ceil(bytes / MEBIBYTE);
  return `Its files have ${needed} MiB, and the limit is ${limit / MEBIBYTE} MiB. A sparse file counts with its full size.`;
}

/** Reads the contents of the files in `entries`, which `scanTree` returned. */
export async function* readTree(root: string, entries: readonly ArchiveEntry[]): AsyncIterable<Uint8Array> {
  let bytesOfTurn = 0;
  let filesOfTurn = 0;
  for (const [relative, size] of entries) {
    if (size === null) continue;
    for (const chunk of readFile(path.join(root, relative), size)) {
      yield chunk;
      bytesOfTurn += chunk.length;
      if (bytesOfTurn < BYTES_PER_TURN) continue;
      await nextTurn();
      bytesOfTurn = 0;
    }
    if (++filesOfTurn % ENTRIES_PER_TURN === 0) await nextTurn();
  }
}

function* readFile(file: string, size: number): Iterable<Uint8Array> {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size !== size) throw new Error("A file of a workspace changed while it was read");
    for (let done = 0; done < size;) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - done));
      const length = readSync(descriptor, chunk);
      if (length === 0) throw new Error("A file of a workspace became shorter while it was read");
      yield chunk.subarray(0, length);
      done += length;
    }
  } finally {
    closeSync(descriptor);
  }
}
