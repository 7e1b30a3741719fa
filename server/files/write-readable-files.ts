import { chmod, constants, copyFile, writeFile } from "node:fs/promises";

// All users may read these files, because a sandbox has its own user. The folder around them can still exclude others.

/** Writes a file that all users may read. */
export async function writeReadable(file: string, text: string): Promise<void> {
  await writeFile(file, text);
  await chmod(file, 0o644);
}

/** Copies a file, readable by all users. */
export async function copyReadable(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o644);
}
