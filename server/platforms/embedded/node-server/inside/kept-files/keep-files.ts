// Runs in a sandbox of its own after the end of a Node server, with the rights of the app. Moves the data that the server wrote beside its
// code to /data/beside-code. Prints a `KeepReport` as JSON. Safe to repeat after a crash at any moment: what is moved is removed last.
//
// usage: node keep-files.ts <folder with what the server wrote> <folder of the data> <folder of a layer>...
import { randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  cpSync,
  type Dirent,
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
  isDatabaseFile,
  isDeployed,
  isSearched,
  MOVED,
  renameWithDatabase,
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

const report: KeepReport = { added: [], failed: [], isComplete: true };

kept.removeDrafts();
find();
const placed = kept.readPlaced();
followRenames();
removeRemoved();
kept.removePlaced();
// Of large folders, some may be left when the time is over.
for (const each of ["database", "file", "folder"])
  for (const [name, kind] of found) if (kind === each) move(name, kind);
kept.removeIfEmpty();
process.stdout.write(JSON.stringify(report));

/** Looks at what is near the root first. */
function find(): void {
  const folders = ["."];
  let remaining = MAX_ENTRIES;
  for (const folder of folders)
    for (const entry of listFolder(folder)) {
      report.isComplete = remaining-- > 0;
      if (!report.isComplete) return;
      const name = path.join(folder, entry.name);
      try {
        if (entry.isDirectory() && isDataFolder(name)) found.set(name, "folder");
        else if (entry.isDirectory() && isSearched(name)) folders.push(name);
        else if (entry.isSymbolicLink()) noteLink(name);
        else if (entry.isFile()) noteFile(name);
      } catch {
        report.failed.push(name);
      }
    }
}

function listFolder(folder: string): Dirent[] {
  try {
    return readdirSync(path.join(written, folder), { withFileTypes: true });
  } catch {
    report.failed.push(folder);
    return [];
  }
}

function noteLink(name: string): void {
  const target = kept.nameOf(readlinkSync(path.join(written, name)));
  if (target !== null) links.set(target, name);
}

function noteFile(name: string): void {
  const kind = kindOf(name);
  if (kind !== null) found.set(name, kind);
}

/** Whether a folder is data as a whole: no deployment brings files for it. */
function isDataFolder(name: string): boolean {
  if (!canBeDataFolder(name) || layers.some((layer) => isDeployed(path.join(layer, name)))) return false;
  return holdsFile(path.join(written, name));
}

function holdsFile(folder: string): boolean {
  const entries = readdirSync(folder, { withFileTypes: true });
  if (entries.some((entry) => entry.isFile())) return true;
  return entries.some((entry) => entry.isDirectory() && holdsFile(path.join(folder, entry.name)));
}

function kindOf(name: string): "database" | "file" | null {
  const file = path.join(written, name);
  if (isBesideDatabase(name) || !isReadable(file)) return null;
  const isDatabase = isDatabaseFile(file);
  if (!canBeData(name, isDatabase)) return null;
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
  const renamed = [...links].filter(
    ([name, newName]) => name !== newName && placed?.has(name) === true && !isLink(name),
  );
  const drafts = renamed.map(([name, newName]) => {
    const draft = kept.createDraftName();
    renameWithDatabase(kept.pathOf(name), draft);
    return { draft, newName };
  });
  for (const { draft, newName } of drafts) {
    if (statusOf(kept.pathOf(newName)) !== null) kept.setAside(newName);
    mkdirSync(path.dirname(kept.pathOf(newName)), { recursive: true });
    renameWithDatabase(draft, kept.pathOf(newName));
  }
}

function isLink(name: string): boolean {
  return statusOf(path.join(written, name))?.isSymbolicLink() === true;
}

/** What was placed and the server has removed. In a layered folder, a device then hides what was deployed. */
function removeRemoved(): void {
  for (const name of placed ?? []) {
    const [status, file] = [statusOf(path.join(written, name)), kept.pathOf(name)];
    if (isBelowLink(written, name) || !(status === null || status.isCharacterDevice())) continue;
    const keptStatus = statusOf(file);
    if (keptStatus === null) continue;
    // A start command may have cleared its folder, or a server moved its data to /data.
    if (keptStatus.isFile() && !isDatabaseFile(file)) remove(file);
    else kept.setAside(name);
  }
}

function move(name: string, kind: DataKind): void {
  try {
    const [source, target] = [path.join(written, name), kept.pathOf(name)];
    const original = originalOf(name);
    mkdirSync(path.dirname(target), { recursive: true });
    const isReplaced = statusOf(target) !== null;
    if (isReplaced && !(kind === "file" && placed?.has(name) === true)) kept.setAside(name);
    const suffixes = DATABASE_SUFFIXES.filter((suffix) => kind === "database" && statusOf(source + suffix) !== null);
    // The database comes last, so that it is never without its write-ahead log.
    for (const suffix of [...suffixes, ""]) copy(source + suffix, target + suffix);
    if (original !== null) kept.writeDigests(kept.readDigests().set(name, digestOf(original)));
    // Renamed first, because a folder of which a part is removed would look like a newer one.
    const moved = path.join(written, MOVED, randomUUID());
    mkdirSync(path.dirname(moved), { recursive: true });
    renameSync(source, moved);
    remove(moved);
    if (!isReplaced) report.added.push(name);
  } catch {
    report.failed.push(name);
  }
}

function remove(place: string): void {
  rmSync(place, { recursive: true, force: true });
}

/** The two folders are mounts, between which nothing can be renamed. */
function copy(source: string, target: string): void {
  const draft = kept.createDraftName();
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
