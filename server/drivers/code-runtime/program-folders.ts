import { createHash, randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DECLARATIONS_FILE, PROGRAM_FILE } from "./deno-command.ts";

/** The files of one run on the host, which are removed with it. */
export interface ProgramFolder extends AsyncDisposable {
  path: string;
  fill(code: string, declarations: string): Promise<void>;
}

/**
 * Where the programs of one installation have their folders, without what a service that was killed left there. It is
 * not in the data folder, because the path of a unix socket, which will be in it, has at most 107 bytes.
 *
 * @param dataDirectory - what makes the folder this installation's own; nobody else may be using it
 * @returns a path, at which there is nothing until the first program
 */
export async function openProgramsFolder(dataDirectory: string): Promise<string> {
  const installation = createHash("sha256").update(path.resolve(dataDirectory)).digest("hex").slice(0, 12);
  const folder = path.join(tmpdir(), `programs-${installation}`);
  if (await isOwn(folder)) await rm(folder, { recursive: true, force: true });
  return folder;
}

/** Its files are there from the start, so that they can be mounted, and empty until they are filled. */
export async function createProgramFolder(programsFolder: string): Promise<ProgramFolder> {
  await own(programsFolder);
  const folder = await mkdtemp(path.join(programsFolder, "program-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const [program, declarationsFile] = [path.join(folder, PROGRAM_FILE), path.join(folder, DECLARATIONS_FILE)];
  try {
    for (const file of [program, declarationsFile]) {
      await writeFile(file, "");
      // The folder keeps others out; the sandbox, which is given the files alone, may be another user.
      await chmod(file, 0o644);
    }
  } catch (error) {
    await remove();
    throw error;
  }
  const fill = async (code: string, declarations: string): Promise<void> => {
    await writeFile(program, code);
    await writeFile(declarationsFile, declarations);
  };
  return { path: folder, fill, [Symbol.asyncDispose]: remove };
}

/**
 * Makes sure of a folder that nobody else can enter. Anybody may write to the system's temporary folder, and cleaners
 * empty it, so a name there may come to be somebody else's at any time.
 */
async function own(folder: string): Promise<void> {
  if ((await isMade(folder)) || (await isOwn(folder))) return;
  // Whatever it is, link or folder: nothing that it leads to is touched.
  await rename(folder, `${folder}-${randomUUID()}`);
  await mkdir(folder, { mode: 0o700 });
}

async function isMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function isOwn(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  return found !== null && found.isDirectory() && found.uid === process.getuid?.();
}
