import { execFile } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";

/** How many entries of a folder are removed before other work of the service gets its turn. */
const ENTRIES_PER_TURN = 100;

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

/**
 * Removes the content of a folder that untrusted code has filled, and keeps the folder. The file system calls are synchronous,
 * because for the few files that most programs have, asynchronous ones need seven times as much processor time.
 */
export async function emptyFolder(folder: string): Promise<void> {
  for (const [index, name] of readdirSync(folder).entries()) {
    if (index % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await nextTurn();
    removeIfPossible(path.join(folder, name));
  }
  if (isEmpty(folder)) return;
  // What has a path that is too long, or a name that is not UTF-8 and so has no string that leads back to it.
  await run("find", [folder, "-mindepth", "1", "-delete"]);
  if (!isEmpty(folder)) throw new Error("The content of a folder cannot be removed");
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { recursive: true, force: true });
  } catch {
    // The caller removes it in another way.
  }
}

function isEmpty(folder: string): boolean {
  return readdirSync(folder).length === 0;
}
