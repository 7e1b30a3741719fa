import { createHash } from "node:crypto";
import { type FileHandle, lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { isSqlite } from "../app-databases/find-sqlite-files.ts";
import { openBeneath } from "../app-databases/open-beneath.ts";

/** Folders that are not searched: packages have no data of a server. */
export const NOT_SEARCHED: ReadonlySet<string> = new Set(["node_modules", ".git"]);
/** Files and folders in these need not stay. */
const TEMPORARY_FOLDER = /(?:^|\/)(?:logs?|te?mp|caches?|\.cache|coverage)(?:\/|$)/i;
/** Folders that a command writes at the start of a server, such as `tsc && node dist`, and settings of tools. */
const OUTPUT_FOLDER = /(?:^|\/)(?:\.[^/]*|dist|build|out|lib|bin|output|generated|__generated__|node_modules)(?:\/|$)/i;
const TEMPORARY_FILE =
  /(?:^|\/)(?:\.[^/]*|core(?:\.\d+)?|nohup\.out)$|\.(?:log|pid|lock|sock|socket|te?mp|swp|tsbuildinfo)$|~$/i;
const CODE_FILE = /\.(?:[cm]?[jt]sx?|map|css|html?|wasm|node|vue|svelte|astro|prisma|graphql|gql)$/i;
/** Files of a deployment that a server changes because they are its data. */
const CHANGEABLE_FILE = /\.(?:json|jsonl|ndjson|csv|db|dat|txt|ya?ml|xml)$/i;
/** What tools rewrite at a start. */
const SETTINGS_FILE =
  /(?:^|\/)(?:package(?:-lock)?|npm-shrinkwrap|[tj]sconfig[\w.-]*|manifest|vercel|turbo|nx|components)\.json$|(?:^|\/)pnpm-[\w-]+\.yaml$/i;
/** What keeps an empty folder in a repository, or explains it. */
const PLACEHOLDER = /^(?:\..*|readme.*)$/i;
/** Beside a SQLite database (https://www.sqlite.org/tempfiles.html). */
export const DATABASE_SUFFIXES = ["-wal", "-shm", "-journal"] as const;
const BESIDE_DATABASE = /-(?:wal|shm|journal)$/;

/** Bytes of a SQLite header that change without the content: the journal mode, and counters of changes. */
const HEADER_BYTES = [
  [18, 20],
  [24, 28],
  [92, 100],
] as const;
/** A larger file that was written to counts as changed. */
const MAX_COMPARED_BYTES = 16 * 1024 * 1024;
const MAX_FOLDER_ENTRIES = 2000;

/** What a server wrote beside its code: a SQLite database, another file, or a folder with all of its files. */
export type DataKind = "database" | "file" | "folder";

export const isBesideDatabase = (name: string): boolean => BESIDE_DATABASE.test(name);

/** Whether a folder with this path may be data of a server. All paths are relative to the folder of the code. */
export function canBeDataFolder(name: string): boolean {
  return !TEMPORARY_FOLDER.test(name) && !OUTPUT_FOLDER.test(name);
}

/**
 * What kind of data a file is that a server has written, or only opened.
 *
 * @param written - the folder with what the server has written, and possibly the rest of its files
 * @param layers - the folders with what was deployed, the uppermost first
 * @returns `null` for a file that need not stay, and one that is as it was deployed
 */
export async function dataKindOf(
  name: string,
  written: string,
  layers: readonly string[],
): Promise<Exclude<DataKind, "folder"> | null> {
  if (TEMPORARY_FOLDER.test(name) || isBesideDatabase(name)) return null;
  await using file = await openBeneath(written, name);
  if (file === null) return null;
  await using original = await openDeployed(layers, name);
  if (await isSqlite(file)) return (await isChangedDatabase({ file, name }, original, written)) ? "database" : null;
  if (OUTPUT_FOLDER.test(name) || TEMPORARY_FILE.test(name) || CODE_FILE.test(name)) return null;
  if (original === null) return "file";
  const isChanged = CHANGEABLE_FILE.test(name) && !SETTINGS_FILE.test(name) && !(await haveSameBytes(original, file));
  return isChanged ? "file" : null;
}

/** A database that was only opened is among the written files too. Until a checkpoint, changes are in the write-ahead log beside it. */
async function isChangedDatabase(
  { file, name }: { file: FileHandle; name: string },
  original: FileHandle | null,
  written: string,
): Promise<boolean> {
  if (original === null) return true;
  await using log = await openBeneath(written, `${name}-wal`);
  if (log !== null && (await log.stat()).size > 0) return true;
  return !(await haveSameBytes(original, file, HEADER_BYTES));
}

async function haveSameBytes(
  one: FileHandle,
  other: FileHandle,
  ignored: readonly (readonly [from: number, to: number])[] = [],
): Promise<boolean> {
  const [first, second] = await Promise.all([one.stat(), other.stat()]);
  if (first.size !== second.size) return false;
  // A copy keeps the time.
  if (first.mtimeMs === second.mtimeMs) return true;
  if (first.size > MAX_COMPARED_BYTES) return false;
  const [bytes, others] = await Promise.all([readBytes(one, first.size), readBytes(other, first.size)]);
  for (const [from, to] of ignored) for (const each of [bytes, others]) each.fill(0, from, to);
  return bytes.equals(others);
}

async function readBytes(file: FileHandle, size: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
  return buffer.subarray(0, bytesRead);
}

/** Opens a file as it was deployed; `null` if the deployment does not have it. */
export async function openDeployed(layers: readonly string[], name: string): Promise<FileHandle | null> {
  for (const layer of layers) {
    const file = await openBeneath(layer, name);
    if (file !== null) return file;
  }
  return null;
}

/** Differs for files with other content. Of a large file, only the size counts. */
export async function digestOf(file: FileHandle): Promise<string> {
  const { size } = await file.stat();
  if (size > MAX_COMPARED_BYTES) return `${size} bytes`;
  return createHash("sha256")
    .update(await readBytes(file, size))
    .digest("hex");
}

/** What a deployment has at a path: files, or a folder with more than what keeps it in a repository. */
export async function isDeployed(layers: readonly string[], name: string): Promise<boolean> {
  for (const layer of layers) {
    const place = path.join(layer, name);
    const status = await lstat(place).catch(() => null);
    if (status === null) continue;
    if (!status.isDirectory() || (await readdir(place)).some((each) => !PLACEHOLDER.test(each))) return true;
  }
  return false;
}

/** Whether a folder has data, and no code. */
export async function holdsOnlyData(folder: string): Promise<boolean> {
  let [remaining, hasFiles] = [MAX_FOLDER_ENTRIES, false];
  const visit = async (parent: string): Promise<boolean> => {
    for (const entry of await readdir(parent, { withFileTypes: true })) {
      if (remaining-- <= 0) return true;
      if (NOT_SEARCHED.has(entry.name) || (entry.isFile() && CODE_FILE.test(entry.name))) return false;
      if (entry.isDirectory() && !(await visit(path.join(parent, entry.name)))) return false;
      if (entry.isFile() && !PLACEHOLDER.test(entry.name)) hasFiles = true;
    }
    return true;
  };
  return (await visit(folder)) && hasFiles;
}
