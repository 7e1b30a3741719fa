import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";

/** Most systems mount a file system in memory here. In a container it can be too small. */
export const MEMORY = "/dev/shm";
const MIN_FREE_BYTES = 2 * 1024 ** 3;

/**
 * A temporary folder in memory, if there is enough. There, hundreds of small files, such as those of a new database, take a
 * tenth of the processor time. Not for what a sandbox mounts at the same path, because it has a `/dev` of its own.
 */
export async function memoryFolder(): Promise<TemporaryFolder> {
  const found = await statfs(MEMORY).catch(() => null);
  const hasMemory = found !== null && found.bavail * found.bsize >= MIN_FREE_BYTES;
  return temporaryFolder(hasMemory ? MEMORY : tmpdir());
}
