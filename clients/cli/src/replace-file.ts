import { randomUUID } from "node:crypto";
import { chown, mkdir, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { CliError } from "./cli-error.ts";

interface ReplaceOptions {
  /** Of the file; by default that of the file before, or 0o644. */
  mode?: number;
  /** Of folders that are created. */
  folderMode?: number;
  /** What to do when the file cannot be written, as a sentence. */
  advice?: string;
}

const MAX_LINKS = 40;

/**
 * Replaces a file at once or not at all: a crash leaves the file before or the new one. Creates missing folders, keeps mode
 * and owner, and replaces the file that a symbolic link names, not the link.
 *
 * @throws {CliError} when the file cannot be written; it is unchanged then
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode, folderMode = 0o755, advice = "Correct its permissions." }: ReplaceOptions = {},
): Promise<void> {
  let temporary: string | null = null;
  try {
    const target = await followLinks(file);
    await mkdir(path.dirname(target), { recursive: true, mode: folderMode });
    const before = await stat(target).catch(() => null);
    if (before !== null && !before.isFile())
      throw Object.assign(new Error("it is not a file"), { code: "not a regular file" });
    temporary = `${target}.${randomUUID()}.tmp`;
    await writeDurably(temporary, content, mode ?? (before === null ? 0o644 : before.mode & 0o777));
    // Another owner is only possible for root, who would take the file from its owner otherwise.
    if (before !== null && process.getuid?.() === 0) await chown(temporary, before.uid, before.gid);
    await rename(temporary, target);
  } catch (error) {
    if (temporary !== null) await rm(temporary, { force: true }).catch(() => undefined);
    throw explainWriteError(file, error as NodeJS.ErrnoException, advice);
  }
}

async function writeDurably(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode);
  try {
    // The mode of `open` is reduced by the umask.
    await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the file that a path names, also if a link names a file that does not exist yet. */
async function followLinks(file: string): Promise<string> {
  let current = file;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const resolved = await realpath(current).catch(() => null);
    if (resolved !== null) return resolved;
    const target = await readlink(current).catch(() => null);
    if (target === null) return current;
    current = path.resolve(path.dirname(current), target);
  }
  throw Object.assign(new Error("too many symbolic links"), { code: "ELOOP" });
}

export function explainWriteError(file: string, error: NodeJS.ErrnoException, advice: string): CliError {
  const { code, message } = error;
  const reason = WRITE_PROBLEMS[code ?? ""] ?? code ?? message;
  return new CliError(`Cannot write ${file}: ${reason}. ${advice}`, 1, { cause: error });
}

const WRITE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is exceeded",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOTDIR: "a part of the path is not a folder",
  ELOOP: "too many symbolic links",
};
