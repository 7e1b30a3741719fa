import { readdir, readlink, stat } from "node:fs/promises";

/** In bytes. */
export interface DeletedOpenFiles {
  memory: number;
  disk: number;
}

/**
 * The size of files without a name that processes have open: deleted files, which a walk of the folders does not
 * find, and memory files, which the kernel counts for no process.
 */
export async function deletedOpenFiles(pids: readonly number[]): Promise<DeletedOpenFiles> {
  const files = new Map<string, { bytes: number; memory: boolean }>();
  for (const pid of pids) {
    const descriptors = await orElse(readdir(`/proc/${pid}/fd`), []);
    await Promise.all(descriptors.map((descriptor) => addDeleted(`/proc/${pid}/fd/${descriptor}`, files)));
  }
  const total = { memory: 0, disk: 0 };
  for (const { bytes, memory } of files.values()) total[memory ? "memory" : "disk"] += bytes;
  return total;
}

/** Counts a file once, even if several descriptors have it open. */
async function addDeleted(descriptor: string, files: Map<string, { bytes: number; memory: boolean }>): Promise<void> {
  const target = await orElse(readlink(descriptor), "");
  if (!target.endsWith(" (deleted)")) return;
  const file = await orElse(stat(descriptor), null);
  if (file?.isFile()) {
    files.set(`${file.dev}:${file.ino}`, { bytes: file.blocks * 512, memory: target.startsWith("/memfd:") });
  }
}

/** Processes end and close descriptors while we read about them. */
async function orElse<T>(read: Promise<T>, fallback: T): Promise<T> {
  return read.catch(() => fallback);
}
