import { readdir, readlink, stat } from "node:fs/promises";
import { processTree } from "./process-tree.ts";

/** In bytes. */
export interface DeletedOpenFiles {
  memory: number;
  disk: number;
}

/**
 * What files without a name hold because a process of the tree has them open: deleted ones, which no walk of the
 * folders finds, and those that only ever were memory, which no process counts as its own.
 */
export async function deletedOpenFiles(rootPid: number): Promise<DeletedOpenFiles> {
  const found = new Map<string, { bytes: number; memory: boolean }>();
  for (const pid of processTree(rootPid)) {
    const descriptors = await orNothing(readdir(`/proc/${pid}/fd`), []);
    await Promise.all(descriptors.map((descriptor) => addNameless(`/proc/${pid}/fd/${descriptor}`, found)));
  }
  const held = { memory: 0, disk: 0 };
  for (const { bytes, memory } of found.values()) held[memory ? "memory" : "disk"] += bytes;
  return held;
}

/** A file that several descriptors have open counts once. */
async function addNameless(descriptor: string, found: Map<string, { bytes: number; memory: boolean }>): Promise<void> {
  const target = await orNothing(readlink(descriptor), "");
  if (!target.endsWith(" (deleted)")) return;
  const file = await orNothing(stat(descriptor), null);
  if (file?.isFile()) {
    found.set(`${file.dev}:${file.ino}`, { bytes: file.blocks * 512, memory: target.startsWith("/memfd:") });
  }
}

/** Processes end and descriptors are closed while they are looked at. */
async function orNothing<T>(looked: Promise<T>, nothing: T): Promise<T> {
  return looked.catch(() => nothing);
}
