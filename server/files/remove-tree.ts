import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Removes a folder that untrusted code may have filled. Succeeds if it does not exist. Node opens every file by its
 * full path, and a program can nest folders deeper than the kernel's limit for paths. `rm` removes such a tree, because
 * it works relative to open folders. Neither follows a link. No process may be using the folder meanwhile.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENAMETOOLONG") throw error;
    await run("rm", ["-rf", "--", folder]);
  }
}
