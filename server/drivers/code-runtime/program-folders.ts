import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import { DECLARATIONS_FILE, PROGRAM_FILE } from "./deno-command.ts";

/** The files of one program on the host. Disposing removes them. */
export interface ProgramFolder extends AsyncDisposable {
  path: string;
  writeProgram(code: string, declarations: string): Promise<void>;
}

/**
 * Returns the parent folder of all program folders of one installation, and removes the files of a killed process. It
 * is not in the data folder, because it will contain a unix socket, whose path has at most 107 bytes.
 *
 * @param dataDirectory - identifies the installation; no other process may be using it
 * @returns a path at which nothing exists until the first program
 */
export async function openProgramsFolder(dataDirectory: string): Promise<string> {
  const installation = sha256Hex(path.resolve(dataDirectory)).slice(0, 12);
  const folder = path.join(tmpdir(), `programs-${installation}`);
  if (await isOwnedFolder(folder)) await rm(folder, { recursive: true, force: true });
  return folder;
}

/** Creates the folder of one program. Its files exist from the start, so that they can be mounted, and are empty. */
export async function createProgramFolder(programsFolder: string): Promise<ProgramFolder> {
  await ensureOwnedFolder(programsFolder);
  const folder = await mkdtemp(path.join(programsFolder, "program-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const programFile = path.join(folder, PROGRAM_FILE);
  const declarationsFile = path.join(folder, DECLARATIONS_FILE);
  try {
    for (const file of [programFile, declarationsFile]) {
      await writeFile(file, "");
      // The sandbox may run as another user. The folder protects the file from all others.
      await chmod(file, 0o644);
    }
  } catch (error) {
    await remove();
    throw error;
  }
  const writeProgram = async (code: string, declarations: string): Promise<void> => {
    await writeFile(programFile, code);
    await writeFile(declarationsFile, declarations);
  };
  return { path: folder, writeProgram, [Symbol.asyncDispose]: remove };
}

/**
 * Ensures that the folder exists and that only this user can enter it. Every user may write to the system's temporary
 * folder, and cleanup jobs empty it, so another user may own the path at any time.
 */
async function ensureOwnedFolder(folder: string): Promise<void> {
  if ((await tryCreateFolder(folder)) || (await isOwnedFolder(folder))) return;
  // Renaming does not touch the content, and does not follow a symbolic link.
  await rename(folder, `${folder}-${randomUUID()}`);
  await mkdir(folder, { mode: 0o700 });
}

async function tryCreateFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function isOwnedFolder(folder: string): Promise<boolean> {
  const stats = await lstat(folder).catch(() => null);
  return stats !== null && stats.isDirectory() && stats.uid === process.getuid?.();
}
