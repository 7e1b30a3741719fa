import { constants, type Dirent } from "node:fs";
import { copyFile, type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import path from "node:path";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { nullIfMissing } from "../../files/missing-file.ts";
import { toSingleLine } from "./single-line.ts";

const MEBIBYTE = 1024 * 1024;
const MAX_FILE_MB = 25;
const MAX_TOTAL_MB = 512;
const MAX_FILES = 20_000;
/** Folders are limited too: even empty ones take disk space and time. */
const MAX_FOLDERS = 20_000;
const MAX_PATH_BYTES = 1024;
/** The edge platform parses these files at every start of the app, and accepts a few thousand lines of them. */
const RULE_FILES = ["_headers", "_redirects"];
const MAX_RULE_FILE_KB = 512;

export interface AssetCopy {
  sourceDirectory: string;
  /** The untrusted path of the folder to copy, relative to `sourceDirectory`. */
  directory: string;
  /** The folder to create. */
  destination: string;
  /** Files and folders that are not copied, relative to `directory`. */
  ignored: ReadonlySet<string>;
  /** Called with every entry that is not copied because it is neither a file nor a folder. */
  onSkipped: (file: string) => void;
}

interface CopyState extends AssetCopy {
  files: number;
  folders: number;
  bytes: number;
}

/**
 * Copies the static files of an app. The tree is untrusted and may change during the copy. So every folder and file is
 * opened relative to its open parent folder, without following links: no path can lead out of the tree.
 *
 * @throws {BuildFailure} `user` when the folder does not exist or exceeds a limit
 */
export async function copyAssets(request: AssetCopy): Promise<void> {
  const segments = path
    .normalize(request.directory)
    .split(path.sep)
    .filter((segment) => segment !== "." && segment !== "");
  if (segments.includes("..") || path.isAbsolute(request.directory)) throw folderNotFound(request.directory);
  await using folder = await openFolder(request.sourceDirectory, segments);
  if (folder === null) throw folderNotFound(request.directory);
  await copyFolder({ ...request, files: 0, folders: 0, bytes: 0 }, folder, "");
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Node has no `openat`. A path through /proc/self/fd has the same effect: it starts at the open folder. */
function pathBelow(folder: FileHandle, name: string): string {
  return `/proc/self/fd/${folder.fd}/${name}`;
}

async function openFolder(root: string, segments: readonly string[]): Promise<FileHandle | null> {
  let folder = await open(root, FOLDER);
  for (const segment of segments) {
    const next = await open(pathBelow(folder, segment), FOLDER).catch(() => null);
    await folder.close();
    if (next === null) return null;
    folder = next;
  }
  return folder;
}

async function copyFolder(state: CopyState, folder: FileHandle, prefix: string): Promise<void> {
  countFolder(state, prefix);
  await mkdir(path.join(state.destination, prefix));
  for (const entry of await readdir(pathBelow(folder, "."), { withFileTypes: true })) {
    const name = prefix + entry.name;
    if (!state.ignored.has(name)) await copyEntry(state, folder, entry, name);
  }
}

async function copyEntry(state: CopyState, folder: FileHandle, entry: Dirent, name: string): Promise<void> {
  if (!entry.isDirectory() && !entry.isFile()) return state.onSkipped(toSingleLine(name));
  const flags = entry.isDirectory() ? FOLDER : FILE;
  const opened = await open(pathBelow(folder, entry.name), flags).catch(nullIfMissing);
  // Node replaces bytes that are not UTF-8, so such a name no longer refers to the file.
  if (opened === null) return state.onSkipped(toSingleLine(name));
  await using _ = opened;
  if (entry.isDirectory()) await copyFolder(state, opened, `${name}/`);
  else await copyOpenFile(state, opened, name);
}

async function copyOpenFile(state: CopyState, file: FileHandle, name: string): Promise<void> {
  const status = await file.stat();
  if (!status.isFile()) throw new Error(`The static file ${name} was replaced during the copy.`);
  countFile(state, name, status.size);
  await copyFile(`/proc/self/fd/${file.fd}`, path.join(state.destination, name), constants.COPYFILE_EXCL);
}

function countFolder(state: CopyState, prefix: string): void {
  state.folders += 1;
  if (state.folders > MAX_FOLDERS) throw tooMuch(`The static files have more than ${MAX_FOLDERS} folders.`);
  if (Buffer.byteLength(prefix) > MAX_PATH_BYTES)
    throw tooMuch(`The static files have a path of more than ${MAX_PATH_BYTES} bytes.`);
}

function countFile(state: CopyState, name: string, bytes: number): void {
  state.files += 1;
  state.bytes += bytes;
  if (bytes > MAX_FILE_MB * MEBIBYTE)
    throw tooMuch(`The static file ${toSingleLine(name)} is larger than ${MAX_FILE_MB} MiB.`);
  if (RULE_FILES.includes(name) && bytes > MAX_RULE_FILE_KB * 1024)
    throw tooMuch(`The static file ${name} is larger than ${MAX_RULE_FILE_KB} KiB.`);
  if (state.files > MAX_FILES) throw tooMuch(`The app has more than ${MAX_FILES} static files.`);
  if (state.bytes > MAX_TOTAL_MB * MEBIBYTE)
    throw tooMuch(`The static files are larger than ${MAX_TOTAL_MB} MiB in total.`);
}

function folderNotFound(directory: string): BuildFailure {
  return new BuildFailure(
    "user",
    `The static files folder "${toSingleLine(directory)}" was not found in the repository after the build.`,
    "Set assets.directory in the wrangler configuration to a folder of the repository that exists after the build. Links are not followed.",
  );
}

function tooMuch(message: string): BuildFailure {
  return new BuildFailure(
    "user",
    message,
    "Remove files that the app does not need, exclude them in .assetsignore, or store them in the app's object storage.",
  );
}
