import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp, rename, rm, rmdir, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import { nullIfMissing } from "../../files/missing-file.ts";
import { writeReadable } from "../../files/write-readable-files.ts";
import { unmountVolumes } from "../../sandbox/memory-volume.ts";
import { DECLARATIONS_FILE, PROGRAM_FILE, SOCKET_FILE } from "./deno-command.ts";

const FILES = [PROGRAM_FILE, DECLARATIONS_FILE, SOCKET_FILE];

/** The part of the programs folder that users of sandboxes may enter. */
const SHARED_FOLDER = "sandboxes";

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
  if (await isOwnedFolder(folder)) {
    await unmountVolumes(folder);
    await rm(folder, { recursive: true, force: true });
  }
  return folder;
}

/** Removes the folder from `openProgramsFolder`, unless it contains the folder of a program. */
export async function removeProgramsFolder(programsFolder: string): Promise<void> {
  await rmdir(path.join(programsFolder, SHARED_FOLDER)).catch(() => undefined);
  await rmdir(programsFolder).catch(() => undefined);
}

/** Creates the part of the programs folder that users of sandboxes may enter, if it does not exist. Returns its path. */
export async function createSharedFolder(programsFolder: string): Promise<string> {
  await ensureOwnedFolder(programsFolder);
  // The sandbox may run as another user. The programs folder protects the files from all others.
  const folder = path.join(programsFolder, SHARED_FOLDER);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711);
  return folder;
}

/** Creates the folder of one program, which is empty at first. */
export async function createProgramFolder(programsFolder: string): Promise<ProgramFolder> {
  const parent = await createSharedFolder(programsFolder);
  const folder = await mkdtemp(path.join(parent, "program-"));
  await chmod(folder, 0o755);
  const writeProgram = async (code: string, declarations: string): Promise<void> => {
    await writeReadable(path.join(folder, PROGRAM_FILE), code);
    await writeReadable(path.join(folder, DECLARATIONS_FILE), declarations);
  };
  return { path: folder, writeProgram, [Symbol.asyncDispose]: () => removeFolder(folder) };
}

/** Nothing else writes to the folder, so its files are known. Searching them takes three times as many system calls. */
async function removeFolder(folder: string): Promise<void> {
  try {
    await Promise.all(FILES.map((name) => unlink(path.join(folder, name)).catch(nullIfMissing)));
    await rmdir(folder);
  } catch {
    await rm(folder, { recursive: true, force: true });
  }
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
