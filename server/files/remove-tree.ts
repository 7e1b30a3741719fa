import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Removes a folder that hostile code may have filled; it need not exist. Node names every file by its whole path, and
 * a program can nest folders deeper than the kernel takes a path, so such a tree is left to `rm`, which walks along
 * open folders. Neither follows a link. Nothing may be running on the folder meanwhile.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENAMETOOLONG") throw error;
    await run("rm", ["-rf", "--", folder]);
  }
}
