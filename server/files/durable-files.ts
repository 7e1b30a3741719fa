import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { copyReadable } from "./write-readable-files.ts";

/** Replaces the content of a file atomically: a reader, or a crash, sees either the old or the new content. */
export async function replaceFile(file: string, content: string, mode = 0o600): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    const handle = await open(draft, "wx", mode);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncToDisk(path.dirname(file));
}

/** Copies a file, readable by all users, and syncs the copy to disk. */
export async function copyFileDurably(from: string, to: string): Promise<void> {
  await copyReadable(from, to);
  await syncToDisk(to);
}

/** Copies the folders and regular files below `from`, and no links or devices. */
export async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isFile()) await copyReadable(source, target);
  }
}

/** Writes a file, or the names in a folder, to disk. */
export async function syncToDisk(target: string): Promise<void> {
  const handle = await open(target, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
