import { createHash } from "node:crypto";
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync, renameSync, type Stats } from "node:fs";
import path from "node:path";

/** Where files are that have been moved, until they are removed. */
export const MOVED = ".moved-files";
/** Folders that are not searched: packages have no data of a server. */
const NOT_SEARCHED = /(?:^|\/)(?:node_modules|\.git|\.moved-files)(?:\/|$)/;
/** Files and folders in these need not stay. */
const TEMPORARY_FOLDER = /(?:^|\/)(?:logs?|te?mp|caches?|\.cache|coverage)(?:\/|$)/i;
/** Folders that a command writes at the start of a server, such as `tsc && node dist`, and hidden ones of tools. */
const OUTPUT_FOLDER =
  /(?:^|\/)(?:\.(?!(?:data|db|files|sessions?|storage|uploads)(?:\/|$))[^/]*|dist|build|out|lib|bin|generated|__generated__)(?:\/|$)/i;
const TEMPORARY_FILE =
  /(?:^|\/)(?:\.[^/]*|core(?:\.\d+)?|nohup\.out)$|\.(?:log|pid|lock|sock|socket|te?mp|swp|tsbuildinfo)$|~$/i;
/** What Node.js runs, and what tools make of it. A file that an upload has brought there must not become code of later versions. */
const CODE_FILE = /\.(?:[cm]?[jt]sx?|map|wasm|node|prisma|graphql|gql)$/i;
/** Files of a deployment that a server changes because they are its data. */
const CHANGEABLE_FILE = /\.(?:json|jsonl|ndjson|csv|db|dat|txt|md|ya?ml|xml)$/i;
/** What tools rewrite at a start. */
const SETTINGS_FILE =
  /(?:^|\/)(?:package(?:-lock)?|npm-shrinkwrap|[tj]sconfig[\w.-]*|manifest|vercel|turbo|nx|components)\.json$|(?:^|\/)pnpm-[\w-]+\.yaml$/i;
/** What keeps an empty folder in a repository, or explains it. */
const PLACEHOLDER = /^(?:\..*|readme.*)$/i;
/** Beside a SQLite database (https://www.sqlite.org/tempfiles.html). */
export const DATABASE_SUFFIXES = ["-wal", "-shm", "-journal"] as const;
const BESIDE_DATABASE = /-(?:wal|shm|journal)$/;

/** How a SQLite database begins (https://www.sqlite.org/fileformat2.html). */
const MAGIC = "SQLite format 3\0";
/** Bytes of its header that change without the content: the journal mode, and counters of changes. */
const HEADER_BYTES = [
  [18, 20],
  [24, 28],
  [92, 100],
] as const;
/** A larger file that was written to counts as changed. */
const MAX_COMPARED_BYTES = 16 * 1024 * 1024;

/** What a server wrote beside its code. */
export type DataKind = "database" | "file" | "folder";

/** Whether a folder can have data somewhere. All paths are relative to the folder of the code. */
export const isSearched = (name: string): boolean => !NOT_SEARCHED.test(name) && !TEMPORARY_FOLDER.test(name);
export const isBesideDatabase = (name: string): boolean => BESIDE_DATABASE.test(name);

/** Whether a folder with this path may be data of a server. */
export function canBeDataFolder(name: string): boolean {
  return isSearched(name) && !OUTPUT_FOLDER.test(name);
}

/** Whether a file with this path may be data of a server. A database may also be in a folder of outputs. */
export function canBeData(name: string, isDatabase: boolean): boolean {
  if (!isSearched(name)) return false;
  return isDatabase || !(OUTPUT_FOLDER.test(name) || TEMPORARY_FILE.test(name) || CODE_FILE.test(name));
}

/**
 * Whether the data that a file of the deployment has become differs from it. A database that was only opened does not, although SQLite
 * changes bytes of its header. Until a checkpoint, changes of a database are in the write-ahead log beside it.
 */
export function isChangedData(name: string, file: string, original: string, isDatabase: boolean): boolean {
  if (!isDatabase && (!CHANGEABLE_FILE.test(name) || SETTINGS_FILE.test(name))) return false;
  if (isDatabase && (statusOf(`${file}-wal`)?.size ?? 0) > 0) return true;
  const [one, other] = [statusOf(file), statusOf(original)];
  if (one?.size !== other?.size) return true;
  // A copy keeps the time.
  if (one === null || one.mtimeMs === other?.mtimeMs) return false;
  if (one.size > MAX_COMPARED_BYTES) return true;
  const [bytes, others] = [readFileSync(file), readFileSync(original)];
  if (isDatabase) for (const each of [bytes, others]) for (const range of HEADER_BYTES) each.fill(0, ...range);
  return !bytes.equals(others);
}

/** Whether a file is a SQLite database. An encrypted one is known by the files beside it. */
export function isDatabaseFile(file: string): boolean {
  return isSqlite(file) || DATABASE_SUFFIXES.some((suffix) => statusOf(file + suffix) !== null);
}

function isSqlite(file: string): boolean {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(MAGIC.length);
    return readSync(descriptor, bytes, 0, bytes.length, 0) === bytes.length && bytes.toString("latin1") === MAGIC;
  } finally {
    closeSync(descriptor);
  }
}

/** Renames what is at a path, with the files beside a database. */
export function renameWithDatabase(from: string, to: string): void {
  for (const suffix of ["", ...DATABASE_SUFFIXES])
    if (statusOf(from + suffix) !== null) renameSync(from + suffix, to + suffix);
}

/** Differs for files with other content. Of a large file, only the size counts. */
export function digestOf(file: string): string {
  const size = statusOf(file)?.size ?? 0;
  if (size > MAX_COMPARED_BYTES) return `${size} bytes`;
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

/** Whether there is a file, or a folder with more than what keeps it in a repository. */
export function isDeployed(place: string): boolean {
  const status = statusOf(place);
  if (status === null) return false;
  return !status.isDirectory() || readdirSync(place).some((each) => !PLACEHOLDER.test(each));
}

/** The status of what is at a path itself, also of a link. `null` if there is nothing. */
export function statusOf(place: string): Stats | null {
  return lstatSync(place, { throwIfNoEntry: false }) ?? null;
}

/** Whether a part of a path below `root` leads elsewhere. A device hides what was deployed, as if it did not exist. */
export function isBelowLink(root: string, name: string): boolean {
  const parent = path.dirname(name);
  if (parent === ".") return false;
  const status = statusOf(path.join(root, parent));
  const isFolder = status === null || status.isDirectory() || status.isCharacterDevice();
  return !isFolder || isBelowLink(root, parent);
}
