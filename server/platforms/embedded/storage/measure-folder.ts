import { lstat, opendir } from "node:fs/promises";
import path from "node:path";
import { nullIfMissing } from "../../../files/missing-file.ts";
import { sqliteBytes } from "./sqlite-bytes.ts";

/** A file occupies whole blocks, so that a million empty files are not free. */
const BLOCK_BYTES = 4096;

/**
 * Returns how many bytes the files below a folder occupy. In SQLite databases only the pages in use count, because a
 * database does not shrink when rows are deleted. Follows no links. One entry is read after the other, so that a large
 * folder does not delay others. Files may change meanwhile.
 *
 * @param stopAtBytes - ends the count as soon as it is larger
 */
export async function measureFolder(folder: string, stopAtBytes: number): Promise<number> {
  let bytes = 0;
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const entries = await opendir(next, { bufferSize: 256 }).catch(nullIfMissing);
    if (entries === null) continue;
    for await (const entry of entries) {
      const file = path.join(next, entry.name);
      if (entry.isDirectory()) pending.push(file);
      else if (entry.isFile()) bytes += await fileBytes(file);
      if (bytes > stopAtBytes) return bytes;
    }
  }
  return bytes;
}

async function fileBytes(file: string): Promise<number> {
  if (file.endsWith(".sqlite")) return sqliteBytes(file);
  // They are counted with their database.
  if (/[.]sqlite-(wal|shm)$/.test(file)) return 0;
  const stats = await lstat(file).catch(nullIfMissing);
  return stats === null ? 0 : Math.ceil(stats.size / BLOCK_BYTES) * BLOCK_BYTES || BLOCK_BYTES;
}
