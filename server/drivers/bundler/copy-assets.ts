import { constants, type Dirent } from "node:fs";
import { copyFile, type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import path from "node:path";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { plain } from "./output-tail.ts";

const MEBIBYTE = 1024 * 1024;
const LARGEST_FILE_MB = 25;
const MOST_FILES = 20_000;
/** Folders count as well: without a file they still take a place on the disk, and time. */
const MOST_FOLDERS = 20_000;
const LONGEST_PATH = 1024;
/** The edge reads these with every start of the app, and takes no more than some thousand lines of them. */
const RULE_FILES = ["_headers", "_redirects"];
const LARGEST_RULE_FILE_KB = 512;
const LARGEST_TOTAL_MB = 512;

export interface AssetCopy {
  sourceDirectory: string;
  /** As the project named it, relative to `sourceDirectory`. */
  directory: string;
  /** Created. */
  destination: string;
  /** Files and folders that are not to be copied, relative to `directory`. */
  leftOut: ReadonlySet<string>;
  /** Told of everything else that is left out because it is neither a file nor a folder. */
  onSkipped: (file: string) => void;
}

interface Copying extends AssetCopy {
  files: number;
  folders: number;
  bytes: number;
}

/**
 * Copies the static files of an app. The tree is untrusted: it is walked with
 * open folders, each step from the one before and never along a link, so that not even a tree that changes meanwhile
 * can lead out of it, and no byte of another file is copied.
 *
 * @throws {BuildFailure} `user` when there is no such folder, or more in it than an app may have
 */
export async function copyAssets(request: AssetCopy): Promise<void> {
  const segments = path
    .normalize(request.directory)
    .split(path.sep)
    .filter((segment) => segment !== "." && segment !== "");
  if (segments.includes("..") || path.isAbsolute(request.directory)) throw noFolder(request.directory);
  await using folder = await openFolder(request.sourceDirectory, segments);
  if (folder === null) throw noFolder(request.directory);
  await copyFolder({ ...request, files: 0, folders: 0, bytes: 0 }, folder, "");
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Node has no `openat`; the kernel's name for an open folder makes one. */
function within(folder: FileHandle, name: string): string {
  return `/proc/self/fd/${folder.fd}/${name}`;
}

async function openFolder(root: string, segments: readonly string[]): Promise<FileHandle | null> {
  let folder = await open(root, FOLDER);
  for (const segment of segments) {
    const next = await open(within(folder, segment), FOLDER).catch(() => null);
    await folder.close();
    if (next === null) return null;
    folder = next;
  }
  return folder;
}

async function copyFolder(copying: Copying, folder: FileHandle, prefix: string): Promise<void> {
  countFolder(copying, prefix);
  await mkdir(path.join(copying.destination, prefix));
  for (const entry of await readdir(within(folder, "."), { withFileTypes: true })) {
    const name = prefix + entry.name;
    if (!copying.leftOut.has(name)) await copyEntry(copying, folder, entry, name);
  }
}

async function copyEntry(copying: Copying, folder: FileHandle, entry: Dirent, name: string): Promise<void> {
  const flags = entry.isDirectory() ? FOLDER : FILE;
  if (!entry.isDirectory() && !entry.isFile()) return copying.onSkipped(plain(name));
  const opened = await open(within(folder, entry.name), flags).catch(unnamed);
  // A name that is not UTF-8 was changed by reading it.
  if (opened === null) return copying.onSkipped(plain(name));
  await using _ = opened;
  if (entry.isDirectory()) await copyFolder(copying, opened, `${name}/`);
  else await copyOpenFile(copying, opened, name);
}

async function copyOpenFile(copying: Copying, file: FileHandle, name: string): Promise<void> {
  const status = await file.stat();
  if (!status.isFile()) throw new Error(`The asset ${name} was exchanged while it was copied`);
  count(copying, name, status.size);
  await copyFile(`/proc/self/fd/${file.fd}`, path.join(copying.destination, name), constants.COPYFILE_EXCL);
}

function unnamed(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

function countFolder(copying: Copying, prefix: string): void {
  copying.folders += 1;
  if (copying.folders > MOST_FOLDERS) throw tooMuch(`The app has more than ${MOST_FOLDERS} folders of static files`);
  if (Buffer.byteLength(prefix) > LONGEST_PATH)
    throw tooMuch(`The static files have a path of more than ${LONGEST_PATH} bytes`);
}

function count(copying: Copying, name: string, bytes: number): void {
  copying.files += 1;
  copying.bytes += bytes;
  if (bytes > LARGEST_FILE_MB * MEBIBYTE)
    throw tooMuch(`The static file ${plain(name)} is larger than ${LARGEST_FILE_MB} MiB`);
  if (RULE_FILES.includes(name) && bytes > LARGEST_RULE_FILE_KB * 1024)
    throw tooMuch(`The static file ${name} is larger than ${LARGEST_RULE_FILE_KB} KiB`);
  if (copying.files > MOST_FILES) throw tooMuch(`The app has more than ${MOST_FILES} static files`);
  if (copying.bytes > LARGEST_TOTAL_MB * MEBIBYTE)
    throw tooMuch(`The app's static files are larger than ${LARGEST_TOTAL_MB} MiB together`);
}

function noFolder(directory: string): BuildFailure {
  return new BuildFailure(
    "user",
    `There is no folder ${plain(directory)} of static files in the built app`,
    "Let assets.directory name a real folder inside the repository that exists after the build.",
  );
}

function tooMuch(what: string): BuildFailure {
  return new BuildFailure(
    "user",
    what,
    "Remove what is not needed, exclude it with .assetsignore, or keep it in the app's object storage.",
  );
}
