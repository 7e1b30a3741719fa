import { lchown, lstat, readdir } from "node:fs/promises";
import type { SandboxCommand } from "../ports/sandbox.ts";
import { runTool } from "./run-tool.ts";
import { startChild } from "./start-process.ts";

/**
 * Changes the owner of everything in `folders`. The content is hostile, so no link is followed: neither as a part of a
 * path (`-P`) nor as its end (`-h`). No process may be using the folders meanwhile.
 */
export async function changeOwner(folders: readonly string[], uid: number, startProcess = startChild): Promise<void> {
  const filled: string[] = [];
  for (const folder of folders) {
    if ((await readdir(folder)).length > 0) filled.push(folder);
    else await lchown(folder, uid, uid);
  }
  if (filled.length > 0) await runTool(startProcess, ["chown", "-hRP", `${uid}:${uid}`, "--", ...filled]);
}

/** The owner of a folder, or `null` for no folder. */
export async function ownerOf(folder: string | undefined): Promise<number | null> {
  return folder === undefined ? null : (await lstat(folder)).uid;
}

/**
 * The folders that `uid` does not own. If only sandboxes write to a folder, its owner also owns the content: `chown`
 * changes a folder after its content, so a crash in between leaves the folder with its old owner.
 */
export async function foldersOfOthers(folders: readonly string[], uid: number): Promise<string[]> {
  const owners = await Promise.all(folders.map(ownerOf));
  return folders.filter((_, index) => owners[index] !== uid);
}

/**
 * Restores the service's access to the files of a command, so that it can measure, read and remove them. Root always
 * has access. Follows no link. No process may be using the folders meanwhile.
 */
export async function restoreAccess(folders: readonly string[]): Promise<void> {
  if (isRoot() || folders.length === 0) return;
  await runTool(startChild, ["chmod", "-R", "u+rwX", "--", ...folders]);
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The writable folders whose size the sandbox limits. */
export function measuredFolders(command: SandboxCommand): string[] {
  const kept = keptFolders(command);
  return writableFolders(command).filter((folder) => !kept.includes(folder));
}

/** The writable folders to which only sandboxes write. */
export function keptFolders({ mounts }: SandboxCommand): string[] {
  return mounts.filter((mount) => mount.writable && mount.keepsData === true).map((mount) => mount.from);
}

/** The folders of the host that a command may write to. */
export function writableFolders({ mounts, layered }: SandboxCommand): string[] {
  const folders = mounts.filter((mount) => mount.writable).map((mount) => mount.from);
  return layered === undefined ? folders : [...folders, layered.upper];
}
