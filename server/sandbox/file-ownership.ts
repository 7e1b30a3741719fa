import { execFile } from "node:child_process";
import { lchown, readdir } from "node:fs/promises";
import { promisify } from "node:util";
import type { SandboxCommand } from "../../domain/ports/sandbox.ts";

const run = promisify(execFile);

/**
 * Makes everything below `folders` the property of `uid`. The content is hostile, so no link is followed: neither one
 * in the way (`-P`) nor a last one (`-h`). Nothing may be running on the folders meanwhile.
 */
export async function handOver(folders: readonly string[], uid: number): Promise<void> {
  const filled: string[] = [];
  for (const folder of folders) {
    if ((await readdir(folder)).length > 0) filled.push(folder);
    else await lchown(folder, uid, uid);
  }
  if (filled.length > 0) await run("chown", ["-hRP", `${uid}:${uid}`, "--", ...filled]);
}

/**
 * Lets us measure, read and remove what a command left, which may have taken away our rights to it. Root needs no
 * rights. Follows no link. Nothing may be running on the folders meanwhile.
 */
export async function reopen(folders: readonly string[]): Promise<void> {
  if (isRoot() || folders.length === 0) return;
  await run("chmod", ["-R", "u+rwX", "--", ...folders]);
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The host's folders that a command may write to. */
export function writableFolders({ mounts }: SandboxCommand): string[] {
  return mounts.filter((mount) => mount.writable).map((mount) => mount.from);
}
