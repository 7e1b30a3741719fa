import { constants, type FileHandle, open } from "node:fs/promises";
import { nullIfMissing } from "../../../files/missing-file.ts";

/** The number of pages of a database, and how many of them are free. */
interface Pages {
  total: number;
  free: number;
}

const HEADER_BYTES = 100;
/** Offsets in the header of a database, which is the start of its first page (https://www.sqlite.org/fileformat2.html). */
const [PAGE_SIZE, PAGE_COUNT, FREE_PAGES] = [16, 28, 36];
const WAL_HEADER_BYTES = 32;
/** Offsets in the header of a write-ahead log (https://www.sqlite.org/walformat.html). */
const [WAL_PAGE_SIZE, WAL_SALTS, WAL_SALTS_END] = [8, 16, 24];
const FRAME_HEADER_BYTES = 24;
const MAX_READ_BYTES = 1024 * 1024;
/** An app can write to its folders, so a name may have become a link or a pipe. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Returns how many bytes the pages in use of a SQLite database occupy, with the committed transactions of its write-ahead
 * log. Opens no database: SQLite must not do so while a process without locks writes to it.
 */
export async function sqliteBytes(file: string): Promise<number> {
  const header = await withFile(file, (handle) => readBytes(handle, 0, HEADER_BYTES));
  const isEmpty = header === null || header.length < HEADER_BYTES;
  const stored = isEmpty ? { total: 0, free: 0 } : readPages(header);
  const wal = await withFile(`${file}-wal`, (handle) => applyWal(handle, stored));
  const pageBytes = wal?.pageBytes ?? (isEmpty ? 0 : readPageSize(header));
  const { total, free } = wal?.pages ?? stored;
  return Math.max(0, total - free) * pageBytes;
}

function readPages(header: Buffer): Pages {
  return { total: header.readUInt32BE(PAGE_COUNT), free: header.readUInt32BE(FREE_PAGES) };
}

function readPageSize(header: Buffer): number {
  const size = header.readUInt16BE(PAGE_SIZE);
  return size === 1 ? 65_536 : size;
}

/** Reads a log to the end of its valid frames. Returns the pages after its last commit, or `null` for an empty log. */
async function applyWal(handle: FileHandle, stored: Pages): Promise<{ pages: Pages; pageBytes: number } | null> {
  const header = await readBytes(handle, 0, WAL_HEADER_BYTES);
  if (header.length < WAL_HEADER_BYTES) return null;
  const pageBytes = header.readUInt32BE(WAL_PAGE_SIZE);
  // Larger than any page of SQLite, so this is not a log.
  if (pageBytes > 65_536) return null;
  const salts = header.subarray(WAL_SALTS, WAL_SALTS_END);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const readLength = Math.max(1, Math.floor(MAX_READ_BYTES / frameBytes)) * frameBytes;
  let pages = stored;
  let { free } = stored;
  for (let position = WAL_HEADER_BYTES; ; position += readLength) {
    const frames = await readBytes(handle, position, readLength);
    for (let at = 0; at + frameBytes <= frames.length; at += frameBytes) {
      // A frame with other salts is left from an earlier use of the file.
      if (!frames.subarray(at + 8, at + 16).equals(salts)) return { pages, pageBytes };
      if (frames.readUInt32BE(at) === 1) free = frames.readUInt32BE(at + FRAME_HEADER_BYTES + FREE_PAGES);
      const committedTotal = frames.readUInt32BE(at + 4);
      if (committedTotal > 0) pages = { total: committedTotal, free };
    }
    if (frames.length < readLength) return { pages, pageBytes };
  }
}

/** Returns `null` for a file that does not exist. */
async function withFile<T>(file: string, read: (handle: FileHandle) => Promise<T>): Promise<T | null> {
  const handle = await open(file, READ_FLAGS).catch(nullIfMissing);
  if (handle === null) return null;
  try {
    return await read(handle);
  } finally {
    await handle.close();
  }
}

async function readBytes(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}
