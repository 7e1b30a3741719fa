/*
 * The files of a workspace are stored in one file, so that all of them are replaced at once:
 *
 *     <SHA-256 of all that follows the header, in hex> <length of the index in bytes, ten digits>\n
 *     <the index: a JSON array of entries>\n
 *     <the content of each file, in the order of the index>
 *
 * A program receives the part after the header. Nothing in a workspace is ever extracted outside of a sandbox, so no path in
 * it is used as a path of the host.
 */

/**
 * A file, or a folder, whose size is `null`. The time of the last change is in milliseconds; 0 for a folder. A folder is before
 * its content.
 */
export type ArchiveEntry = readonly [path: string, size: number | null, modified: number];

const INDEX_LENGTH_DIGITS = 10;
const HASH_DIGITS = 64;
export const HEADER_BYTES = HASH_DIGITS + 1 + INDEX_LENGTH_DIGITS + 1;

export interface ArchiveHeader {
  hash: string;
  /** With the line feed. */
  indexBytes: number;
}

export function formatHeader({ hash, indexBytes }: ArchiveHeader): Buffer {
  return Buffer.from(`${hash} ${String(indexBytes).padStart(INDEX_LENGTH_DIGITS, "0")}\n`);
}

/** @throws when the file is not an archive */
export function parseHeader(bytes: Buffer): ArchiveHeader {
  const [, hash, length] = /^([0-9a-f]{64}) (\d{10})\n$/.exec(bytes.toString("latin1")) ?? [];
  if (hash === undefined || length === undefined) throw new Error("The archive of a workspace has no valid header");
  return { hash, indexBytes: Number(length) };
}

export function formatIndex(entries: readonly ArchiveEntry[]): Buffer {
  return Buffer.from(`${JSON.stringify(entries)}\n`);
}

export function parseIndex(bytes: Buffer): ArchiveEntry[] {
  return JSON.parse(bytes.toString()) as ArchiveEntry[];
}

/** Where the content of each file begins, relative to the content of the first one. Folders have none. */
export function contentOffsets(entries: readonly ArchiveEntry[]): Map<string, number> {
  const offsets = new Map<string, number>();
  let offset = 0;
  for (const [path, size] of entries) {
    if (size === null) continue;
    offsets.set(path, offset);
    offset += size;
  }
  return offsets;
}
