import { lstatSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ignore, { type Ignore } from "ignore";

/** What nobody means to publish when the root of a repository is served as it is. */
const PRIVATE = [
  ".*",
  "!.well-known",
  "node_modules",
  "package.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "wrangler.*",
];

/** The host takes no longer ones, so there is nothing to say about them. */
const LONGEST_PATH = 1024;

/**
 * The files and folders below `directory` that are not to be published, by `.assetsignore` and by what is private
 * anyway. It is found out in here because the patterns are the project's, and some take forever to match.
 *
 * @param directory - of static files, relative to the current folder, which is the root of the source
 */
export function leftOut(directory: string): string[] {
  const rules = ignore().add(path.normalize(`${directory}/`) === "./" ? PRIVATE : []);
  const file = path.join(directory, ".assetsignore");
  const isThere = lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  const found: string[] = [];
  const isFolder = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isThere) rules.add(readFileSync(file, "utf8"));
  if (isFolder) walk(directory, "", rules.add(".assetsignore"), found);
  return found;
}

function walk(directory: string, prefix: string, rules: Ignore, found: string[]): void {
  for (const entry of readdirSync(path.join(directory, prefix), { withFileTypes: true })) {
    const name = prefix + entry.name;
    if (Buffer.byteLength(name) > LONGEST_PATH) continue;
    if (rules.ignores(entry.isDirectory() ? `${name}/` : name)) found.push(name);
    else if (entry.isDirectory()) walk(directory, `${name}/`, rules, found);
  }
}
