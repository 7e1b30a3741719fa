// Runs in the sandbox of a Node server before its command, with the rights of the app. Places what earlier processes wrote beside the code
// at the same paths, as links into /data. Prints what the owner of the app must know.
//
// usage: node place-files.ts <folder of the code> <folder of the data> [--new]
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import {
  canBeData,
  canBeDataFolder,
  digestOf,
  isBelowLink,
  isBesideDatabase,
  isDatabaseFile,
  isDeployed,
  statusOf,
} from "./data-files.ts";
import { KeptFolder } from "./kept-folder.ts";

const MAX_ENTRIES = 20_000;

const [code = "", data = "", ...options] = process.argv.slice(2);
/** The first start of a version, whose owner reads its log. */
const isNew = options.includes("--new");
const kept = new KeptFolder(data);
const digests = kept.readDigests();
const placed: string[] = [];
let remaining = MAX_ENTRIES;

kept.removePlaced();
placeFolder(".");
if (remaining <= 0)
  console.log(`/data/beside-code has over ${MAX_ENTRIES} entries. Not all of them are beside the code.`);
kept.writePlaced(placed);

function placeFolder(folder: string): void {
  for (const entry of readdirSync(kept.pathOf(folder), { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    if (remaining-- <= 0) return;
    if (kept.isOwn(name)) continue;
    try {
      if (entry.isFile()) placeFile(name);
      else if (entry.isDirectory() && canBeDataFolder(name) && !isDeployed(path.join(code, name))) placeLink(name);
      else if (entry.isDirectory()) placeFolder(name);
    } catch (error) {
      console.log(`/data/beside-code/${name} cannot be placed beside the code: ${(error as Error).message}`);
    }
  }
}

function placeFile(name: string): void {
  const isDatabase = isDatabaseFile(kept.pathOf(name));
  if (isBesideDatabase(name) || !canBeData(name, isDatabase)) return;
  const deployed = path.join(code, name);
  const isOther = isDeployed(deployed) && digests.get(name) !== digestOf(deployed);
  if (!isOther || isDatabase) placeLink(name);
  if (isOther && isNew) console.log(isDatabase ? describeDatabase(name) : describeFile(name));
}

/** A link of the deployment, or of a declared volume, stays. */
function placeLink(name: string): void {
  const place = path.join(code, name);
  if (isBelowLink(code, name) || statusOf(place)?.isSymbolicLink() === true) return;
  mkdirSync(path.dirname(place), { recursive: true });
  rmSync(place, { recursive: true, force: true });
  symlinkSync(kept.pathOf(name), place);
  placed.push(name);
}

function describeDatabase(name: string): string {
  return `The server uses the database ${name} that it has changed, /data/beside-code/${name}, and not the other one of this deployment. Remove that file to use the deployed one.`;
}

function describeFile(name: string): string {
  return `The server uses ${name} of this deployment, because it has changed. What the server wrote to it earlier is in /data/beside-code/${name}.`;
}
