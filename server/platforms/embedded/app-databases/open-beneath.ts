import { constants } from "node:fs";
import { type FileHandle, open, opendir } from "node:fs/promises";

const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** A named pipe cannot block us. */
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What is no such file, or no file that an app should have as its database. */
const MISSING = ["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES"];

/**
 * Opens a regular file below a folder that an app writes to. No link is followed, neither at the end of the path nor within:
 * each folder is opened below the one before, so that the app cannot replace one meanwhile.
 *
 * @param name - relative to the folder, without `..`
 * @returns `null` if there is no such regular file
 */
export async function openBeneath(folder: string, name: string): Promise<FileHandle | null> {
  const parts = name.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return null;
  await using folders = new AsyncDisposableStack();
  let parent = folder;
  for (const part of parts.slice(0, -1)) {
    const handle = await nullIfMissing(open(`${parent}/${part}`, FOLDER_FLAGS));
    if (handle === null) return null;
    folders.use(handle);
    parent = pathOf(handle);
  }
  const file = await nullIfMissing(open(`${parent}/${parts.at(-1)}`, FILE_FLAGS));
  if (file === null || (await file.stat()).isFile()) return file;
  await file.close();
  return null;
}

/** Bounds a search in the folder of an app, which can have any number of files. */
interface Search {
  entries: number;
  depth: number;
  /** The names of folders that are not searched. */
  leftOut: readonly string[];
}

const SEARCH: Search = { entries: 2000, depth: 4, leftOut: [] };

/** Lists regular files below a folder that an app writes to, in alphabetical order. Follows no links. */
export async function listBeneath(folder: string, search: Partial<Search> = {}): Promise<string[]> {
  const { entries, depth: maxDepth, leftOut } = { ...SEARCH, ...search };
  const files: string[] = [];
  let remaining = entries;
  const visit = async (parent: string, prefix: string, depth: number): Promise<void> => {
    const handle = await nullIfMissing(open(parent, FOLDER_FLAGS));
    if (handle === null) return;
    await using _ = handle;
    // A part of a large folder, which never is in memory as a whole.
    for await (const entry of await opendir(pathOf(handle))) {
      if (remaining-- <= 0) return;
      if (entry.isFile()) files.push(prefix + entry.name);
      else if (entry.isDirectory() && depth < maxDepth && !leftOut.includes(entry.name))
        await visit(`${pathOf(handle)}/${entry.name}`, `${prefix}${entry.name}/`, depth + 1);
    }
  };
  await visit(folder, "", 1);
  return files.toSorted();
}

/** A path of an open file or folder that does not depend on its name. */
export function pathOf({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

async function nullIfMissing(opening: Promise<FileHandle>): Promise<FileHandle | null> {
  return opening.catch((error: NodeJS.ErrnoException) => {
    if (MISSING.includes(error.code ?? "")) return null;
    throw error;
  });
}
