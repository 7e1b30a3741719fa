import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { unmountVolumes, volumeProblem } from "../../../server/sandbox/memory-volume.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const run = promisify(execFile);
const PAGE = 4096;
const FILLER = "filler";

/** Why no file system can be mounted here, or `null`. */
export async function smallDiskProblem(): Promise<string | null> {
  await using folder = await temporaryFolder();
  return await volumeProblem(folder.path, { users: "builds", count: 1, sizeMb: 1, processMb: 1 });
}

/** A file system of 64 KiB. */
export interface SmallDisk extends AsyncDisposable {
  path: string;
  /** Leaves no room for another page. */
  fill(freePages?: number): Promise<void>;
  free(): Promise<void>;
  makeReadOnly(): Promise<void>;
  /** The hash of each file by its path, but not of those that `fill` has created. */
  hashes(): Promise<Record<string, string>>;
}

export async function mountSmallDisk(): Promise<SmallDisk> {
  const folder = await temporaryFolder();
  const { path: disk } = folder;
  await run("mount", ["-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs", disk]);
  const fillers = async () => (await readdir(disk)).filter((name) => name.startsWith(FILLER));
  return {
    path: disk,
    async fill(freePages = 0) {
      for (let at = 0; await fillPage(path.join(disk, `${FILLER}${at}`)); at += 1);
      for (const name of (await fillers()).slice(0, freePages)) await rm(path.join(disk, name));
    },
    async free() {
      for (const name of await fillers()) await rm(path.join(disk, name));
    },
    makeReadOnly: async () => void (await run("mount", ["-o", "remount,ro", disk])),
    async hashes() {
      const entries = await readdir(disk, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith(FILLER));
      const hashed = files.map(async ({ parentPath, name }) => {
        const file = path.join(parentPath, name);
        return [
          path.relative(disk, file),
          createHash("sha256")
            .update(await readFile(file))
            .digest("hex"),
        ] as const;
      });
      return Object.fromEntries(await Promise.all(hashed));
    },
    async [Symbol.asyncDispose]() {
      await run("mount", ["-o", "remount,rw", disk]);
      await unmountVolumes(disk);
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Returns whether the page had room. */
async function fillPage(file: string): Promise<boolean> {
  await writeFile(file, Buffer.alloc(PAGE)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOSPC") throw error;
  });
  if ((await stat(file)).size === PAGE) return true;
  await rm(file);
  return false;
}
