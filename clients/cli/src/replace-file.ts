import { randomUUID } from "node:crypto";
import { access, chown, constants, mkdir, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { CliError } from "./cli-error.ts";

interface ReplaceOptions {
  /** Of the file; by default that of the file before, or 0o644. */
  mode?: number;
  /** Of folders that are created. */
  folderMode?: number;
  /** What to do when the file cannot be written, as a sentence. By default it depends on the reason. */
  advice?: string;
}

const MAX_LINKS = 40;
/** A file may be replaced by one that is longer by this many bytes. */
const RESERVED_BYTES = 8 * 1024;

/**
 * Replaces a file at once or not at all: a crash leaves the file before or the new one. Creates missing folders, keeps mode
 * and owner, and replaces the file that a symbolic link names, not the link.
 *
 * @throws {CliError} when the file cannot be written; it is unchanged then
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  options: ReplaceOptions = {},
): Promise<void> {
  await writeBeside(file, content, options, rename);
}

/**
 * Checks that the file can be replaced, before something is done that cannot be repeated. Changes nothing.
 *
 * @throws {CliError} when the file cannot be written, for example on a full disk
 */
export async function checkReplaceable(file: string, options: ReplaceOptions = {}): Promise<void> {
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  await writeBeside(file, Buffer.alloc(size + RESERVED_BYTES), options, (temporary) => rm(temporary));
}

/** Writes the content into a temporary file in the folder of the file, and passes both paths to `use`. */
async function writeBeside(
  file: string,
  content: string | Uint8Array,
  { mode, folderMode = 0o755, advice }: ReplaceOptions,
  use: (temporary: string, target: string) => Promise<void>,
): Promise<void> {
  let temporary: string | null = null;
  try {
    const target = await followLinks(file);
    await createFolder(path.dirname(target), folderMode);
    const before = await stat(target).catch(() => null);
    if (before !== null && !before.isFile())
      throw Object.assign(new Error("it is not a file"), { code: "not a regular file" });
    temporary = `${target}.${randomUUID()}.tmp`;
    await writeDurably(temporary, content, mode ?? (before === null ? 0o644 : before.mode & 0o777));
    // Another owner is only possible for root, who would take the file from its owner otherwise.
    if (before !== null && process.getuid?.() === 0) await chown(temporary, before.uid, before.gid);
    await use(temporary, target);
  } catch (error) {
    if (temporary !== null) await rm(temporary, { force: true }).catch(() => undefined);
    throw explainWriteError(file, error as NodeJS.ErrnoException, advice);
  }
}

/** Creates a folder and those above it. */
async function createFolder(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode });
  } catch (error) {
    // On a read-only file system, Node says that the folder above does not exist.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") await checkWritable(path.dirname(folder));
    throw error;
  }
}

/** Checks the folder, or the next one above it that exists. */
async function checkWritable(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || path.dirname(folder) === folder) throw error;
    await checkWritable(path.dirname(folder));
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

/** @param advice - what to do about everything else than a full disk */
export function explainWriteError(file: string, error: NodeJS.ErrnoException, advice?: string): CliError {
  const { code, message } = error;
  const problem = WRITE_PROBLEMS[code ?? ""];
  const next = problem?.isFull === true ? problem.advice : (advice ?? problem?.advice ?? "Check the path.");
  return new CliError(`Cannot write ${file}: ${problem?.reason ?? code ?? message}. ${next}`, 1, { cause: error });
}

interface WriteProblem {
  reason: string;
  advice: string;
  isFull?: boolean;
}

const PERMISSION: WriteProblem = { reason: "permission denied", advice: "Correct its permissions." };

const WRITE_PROBLEMS: Readonly<Record<string, WriteProblem>> = {
  ENOSPC: { reason: "the disk is full", advice: "Free some space, then try again.", isFull: true },
  EDQUOT: { reason: "the disk quota is exceeded", advice: "Free some space, then try again.", isFull: true },
  EROFS: { reason: "the file system is read-only", advice: "Make it writable, then try again." },
  EACCES: PERMISSION,
  EPERM: PERMISSION,
  ENOTDIR: { reason: "a part of the path is not a folder", advice: "Rename that file, then try again." },
  ELOOP: { reason: "too many symbolic links", advice: "Correct the links." },
};
