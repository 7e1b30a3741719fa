import { mkdir, mkdtemp, readdir, readFile, realpath, rmdir, statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import path from "node:path";
import { removeTree } from "../files/remove-tree.ts";
import { isRoot } from "./file-ownership.ts";
import { parseMountinfo } from "./mountinfo.ts";
import { runTool } from "./run-tool.ts";
import { startChild } from "./start-process.ts";

const MEBIBYTE = 1024 * 1024;
/** The type of tmpfs in linux/magic.h. */
const TMPFS = 0x0102_1994;
/** The part of the machine's memory that all volumes and the processes that use them may have together. */
const MAX_SHARE = 0.85;

export interface VolumeNeeds {
  /** What uses the volumes, for the reason why they cannot be used. */
  users: "builds" | "programs";
  /** How many volumes exist at the same time. */
  count: number;
  sizeMb: number;
  /** The memory of the processes that use one volume. */
  processMb: number;
}

/**
 * Returns why volumes in memory cannot be used below `folder`, or `null` if they can.
 *
 * A volume is a tmpfs. The kernel limits its size, which includes files that have no name any more.
 */
export async function volumeProblem(
  folder: string,
  { users, count, sizeMb, processMb }: VolumeNeeds,
): Promise<string | null> {
  if (!isRoot()) return "only root can mount file systems";
  const neededMb = Math.ceil((count * (sizeMb + processMb)) / MAX_SHARE);
  const availableMb = Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / MEBIBYTE);
  if (availableMb < neededMb)
    return `${count} simultaneous ${users} in memory need a machine with ${neededMb} MiB, and it has ${availableMb} MiB`;
  mountProblem ??= tryMount(folder);
  return mountProblem;
}

/** Why this process cannot mount a volume, or `null` if it can. Its rights do not change, so one attempt is enough. */
let mountProblem: Promise<string | null> | undefined;

async function tryMount(folder: string): Promise<string | null> {
  await mkdir(folder, { recursive: true });
  const probe = await mkdtemp(path.join(folder, "probe-"));
  try {
    await mountVolume(probe, buildVolumeSize(1));
    await unmountVolumes(probe);
    return null;
  } catch (error) {
    return `a file system cannot be mounted: ${(error as Error).message.trim()}`;
  } finally {
    await rmdir(probe);
  }
}

export interface VolumeSize {
  sizeMb: number;
  /** How many files and folders the volume can have, with its own one. */
  files: number;
}

/** The size of the workspace of a build: one file per KiB, which is also the least that a file counts with when measured. */
export function buildVolumeSize(sizeMb: number): VolumeSize {
  return { sizeMb, files: sizeMb * 1024 };
}

/** Mounts an empty volume on an empty folder. The service must unmount it, also after a crash. */
export async function mountVolume(
  folder: string,
  { sizeMb, files }: VolumeSize,
  startProcess = startChild,
): Promise<void> {
  const options = `size=${sizeMb}m,nr_inodes=${files},mode=755,nosuid,nodev`;
  await runTool(startProcess, ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]);
}

/** Removes the content of all volumes at and below `folder`, and unmounts them. No sandbox may be using them. */
export async function unmountVolumes(folder: string, startProcess = startChild): Promise<void> {
  // The deepest first.
  for (const volume of (await mountsAt(folder)).toReversed()) {
    // A sandbox of another build may keep the mount in its namespace for as long as it runs, but then it is empty.
    for (const name of await readdir(volume)) await removeTree(path.join(volume, name));
    // A tool of the service that measures the folder may still have it open.
    await runTool(startProcess, ["umount", "--lazy", "--", volume]);
  }
}

/** The size in MiB of the file system of `folder` if it is in memory, otherwise 0. */
export async function sizeInMemoryMb(folder: string): Promise<number> {
  const { type, blocks, bsize } = await statfs(folder);
  return type === TMPFS ? (blocks * bsize) / MEBIBYTE : 0;
}

/** In the order in which they were mounted. */
async function mountsAt(folder: string): Promise<string[]> {
  const mountinfo = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
  // The kernel knows the folder by its path without links.
  const real = await realpath(folder).catch(() => folder);
  const volumes = parseMountinfo(mountinfo).filter(({ type }) => type === "tmpfs");
  return volumes.map(({ target }) => target).filter((target) => target === real || target.startsWith(`${real}/`));
}
