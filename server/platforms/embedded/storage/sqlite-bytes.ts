import { constants, type FileHandle, open } from "node:fs/promises";
import { nullIfMissing } from "../../../files/missing-file.ts";

/** The number of pages of a database, and how many of them are free. */
interface Pages {
  total: number;
  free: number;
}

const HEADER_BYTES = 100;
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The offsets in a database header (https://www.sqlite.org/fileformat2.html), which is the start of its first page. */
const [PAGE_SIZE, PAGE_COUNT, FREE_PAGES] = [16, 28, 36];
/** A write-ahead log keeps its size when it is reused, so up to this size only its content counts. */
const MAX_READ_WAL_BYTES = 16 * 1024 * 1024;
/** An app can write to its folders, so a name may have become a link or a pipe. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Returns how many bytes the pages in use of a SQLite database occupy, with the committed transactions of its write-ahead
 * log. Reads only headers and opens no database: no SQLite of ours may read the file while a process writes to it.
 */
export async function sqliteBytes(file: string): Promise<number> {
  const header = await readStart(file, HEADER_BYTES);
  const wal = await readStart(`${file}-wal`, MAX_READ_WAL_BYTES);
  // Neither file exists, or both are empty.
  if (header.bytes.length < HEADER_BYTES && wal.bytes.length < WAL_HEADER_BYTES) return 0;
  const stored =
    header.bytes.length < HEADER_BYTES
      ? { total: 0, free: 0 }
      : { total: header.bytes.readUInt32BE(PAGE_COUNT), free: header.bytes.readUInt32BE(FREE_PAGES) };
  const pageBytes = readPageSize(header.bytes) ?? wal.bytes.readUInt32BE(8);
  const { total, free } = wal.isComplete ? applyWal(stored, wal.bytes) : stored;
  return Math.max(0, total - free) * pageBytes + (wal.isComplete ? 0 : wal.size);
}

function readPageSize(header: Buffer): number | null {
  if (header.length < HEADER_BYTES) return null;
  const size = header.readUInt16BE(PAGE_SIZE);
  return size === 1 ? 65_536 : size;
}

/** The pages after the last transaction that was committed to the log (https://www.sqlite.org/walformat.html). */
function applyWal(stored: Pages, wal: Buffer): Pages {
  if (wal.length < WAL_HEADER_BYTES) return stored;
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const salts = wal.subarray(16, 24);
  let pages = stored;
  let { free } = stored;
  for (let at = WAL_HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    // A frame with other salts is left from an earlier use of the file.
    if (!wal.subarray(at + 8, at + 16).equals(salts)) break;
    const content = at + FRAME_HEADER_BYTES;
    if (wal.readUInt32BE(at) === 1) free = wal.readUInt32BE(content + FREE_PAGES);
    const committed = wal.readUInt32BE(at + 4);
    if (committed > 0) pages = { total: committed, free };
  }
  return pages;
}

interface FileStart {
  bytes: Buffer;
  /** Of the whole file, in bytes. */
  size: number;
  isComplete: boolean;
}

/** Reads at most `maxBytes`. A file that does not exist is empty. */
async function readStart(file: string, maxBytes: number): Promise<FileStart> {
  const handle = await open(file, READ_FLAGS).catch(nullIfMissing);
  if (handle === null) return { bytes: Buffer.alloc(0), size: 0, isComplete: true };
  try {
    const { size } = await handle.stat();
    return { bytes: await readBytes(handle, Math.min(size, maxBytes)), size, isComplete: size <= maxBytes };
  } finally {
    await handle.close();
  }
}

async function readBytes(handle: FileHandle, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(buffer, 0, length, 0);
  return buffer.subarray(0, bytesRead);
}
