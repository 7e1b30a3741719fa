// Runs in a sandbox of its own after the end of a Node server, with the rights of the app. Moves the data that the server wrote beside its
// code to /data/files. Prints a `KeepReport` as JSON. Safe to repeat after a crash at any moment: what is moved is removed last.
//
// usage: node keep-files.ts <folder with what the server wrote> <folder of the data> <folder of a layer>...
import {
  accessSync,
  constants,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import path from "node:path";
import {
  canBeData,
  canBeDataFolder,
  DATABASE_SUFFIXES,
  type DataKind,
  digestOf,
  isBelowLink,
  isBesideDatabase,
  isChangedData,
  isDeployed,
  isSearched,
  isSqlite,
  statusOf,
} from "./data-files.ts";
import { KeptFolder } from "./kept-folder.ts";

/** What was kept. All names are relative to the folder of the code. */
export interface KeepReport {
  /** What was not kept before. */
  added: string[];
  /** What could not be moved. */
  failed: string[];
  isComplete: boolean;
}

const MAX_ENTRIES = 20_000;

const [written = "", data = "", ...layers] = process.argv.slice(2);
const kept = new KeptFolder(data);
const found = new Map<string, DataKind>();
/** The names of what links lead to, and of the links. */
const links = new Map<string, string>();
let remaining = MAX_ENTRIES;

findIn(".");
const placed = kept.readPlaced();
followRenames();
removeRemoved();
kept.removePlaced();
const report: KeepReport = { added: [], failed: [], isComplete: remaining > 0 };
for (const [name, kind] of found) move(name, kind);
process.stdout.write(JSON.stringify(report));

function findIn(folder: string): void {
  for (const entry of readdirSync(path.join(written, folder), { withFileTypes: true })) {
    if (remaining-- <= 0) return;
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (isDataFolder(name)) found.set(name, "folder");
      else if (isSearched(name)) findIn(name);
    } else if (entry.isSymbolicLink()) {
      const target = kept.nameOf(readlinkSync(path.join(written, name)));
      if (target !== null) links.set(target, name);
    } else if (entry.isFile()) {
      const kind = kindOf(name);
      if (kind !== null) found.set(name, kind);
    }
  }
}

/** Whether a folder is data as a whole: no deployment brings files for it. */
function isDataFolder(name: string): boolean {
  if (!canBeDataFolder(name) || layers.some((layer) => isDeployed(path.join(layer, name)))) return false;
  return readdirSync(path.join(written, name), { recursive: true, withFileTypes: true }).some((entry) =>
    entry.isFile(),
  );
}

function kindOf(name: string): "database" | "file" | null {
  const file = path.join(written, name);
  if (!isReadable(file)) return null;
  const isDatabase = isSqlite(file);
  if (isBesideDatabase(name) || !canBeData(name, isDatabase)) return null;
  const original = originalOf(name);
  if (original !== null && !isChangedData(name, file, original, isDatabase)) return null;
  return isDatabase ? "database" : "file";
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** The file as it was deployed; `null` if the deployment does not have it. */
function originalOf(name: string): string | null {
  const files = layers.map((layer) => path.join(layer, name));
  return files.find((file) => statusOf(file)?.isFile() === true) ?? null;
}

/** Moves what the server has renamed: the link has the new name. */
function followRenames(): void {
  for (const [name, newName] of links) {
    if (name === newName || placed?.has(name) !== true || isLink(name) || statusOf(kept.pathOf(name)) === null)
      continue;
    const target = kept.pathOf(newName);
    mkdirSync(path.dirname(target), { recursive: true });
    for (const suffix of ["", ...DATABASE_SUFFIXES]) {
      if (statusOf(kept.pathOf(name) + suffix) === null) continue;
      remove(target + suffix);
      renameSync(kept.pathOf(name) + suffix, target + suffix);
    }
  }
}

function isLink(name: string): boolean {
  return statusOf(path.join(written, name))?.isSymbolicLink() === true;
}

/** Removes what was placed and the server has removed. In a layered folder, a device then hides what was deployed. */
function removeRemoved(): void {
  for (const name of placed ?? []) {
    const status = statusOf(path.join(written, name));
    if (isBelowLink(written, name) || !(status === null || status.isCharacterDevice())) continue;
    for (const suffix of ["", ...DATABASE_SUFFIXES]) remove(kept.pathOf(name) + suffix);
  }
}

function move(name: string, kind: DataKind): void {
  try {
    const [source, target] = [path.join(written, name), kept.pathOf(name)];
    const original = originalOf(name);
    mkdirSync(path.dirname(target), { recursive: true });
    const isReplaced = statusOf(target) !== null;
    if (isReplaced && placed?.has(name) !== true) setAside(name);
    // Those of another database, if the server has created it anew.
    if (kind === "database") for (const suffix of DATABASE_SUFFIXES) remove(target + suffix);
    const suffixes =
      kind === "database" ? DATABASE_SUFFIXES.filter((suffix) => statusOf(source + suffix) !== null) : [];
    // The database comes last, so that it is never without its write-ahead log.
    for (const suffix of [...suffixes, ""]) copy(source + suffix, target + suffix);
    if (original !== null) kept.writeDigests(kept.readDigests().set(name, digestOf(original)));
    for (const suffix of ["", ...suffixes]) remove(source + suffix);
    if (!isReplaced) report.added.push(name);
  } catch {
    report.failed.push(name);
  }
}

function remove(place: string): void {
  rmSync(place, { recursive: true, force: true });
}

/** Keeps what another process of the app, or one of an earlier version, has written to the same path. */
function setAside(name: string): void {
  const target = kept.replacedPathOf(name);
  mkdirSync(path.dirname(target), { recursive: true });
  for (const suffix of ["", ...DATABASE_SUFFIXES])
    if (statusOf(kept.pathOf(name) + suffix) !== null) renameSync(kept.pathOf(name) + suffix, target + suffix);
}

/** The two folders are mounts, between which nothing can be renamed. */
function copy(source: string, target: string): void {
  const { draft } = kept;
  remove(draft);
  cpSync(source, draft, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    // Sockets and the like, and the devices with which a layered folder hides files of the deployment.
    filter: (file) => isCopied(file),
  });
  remove(target);
  renameSync(draft, target);
}

function isCopied(file: string): boolean {
  const status = lstatSync(file);
  return status.isFile() || status.isDirectory() || status.isSymbolicLink();
}
