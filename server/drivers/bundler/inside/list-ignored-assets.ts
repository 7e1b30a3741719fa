import { lstatSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ignore, { type Ignore } from "ignore";

/** Ignored when the root of a repository is published as it is. */
const IGNORED_AT_ROOT = [
  ".*",
  "!.well-known",
  "node_modules",
  "package.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
  "wrangler.*",
];

/** Files of a Pages project that are not static files. `_headers` and `_redirects` are not listed: they are read later. */
const IGNORED_ON_PAGES = [
  "/_worker.js",
  "/_routes.json",
  "/functions",
  "/.wrangler",
  ".DS_Store",
  "node_modules",
  ".git",
];

/** Longer paths are skipped here: the host refuses them when it copies the files. */
const MAX_PATH_BYTES = 1024;

/**
 * Lists the files and folders that `.assetsignore` or the built-in patterns exclude. Runs inside the sandbox, because
 * the project writes the patterns, and matching a hostile pattern can take practically forever.
 *
 * @param directory - the folder of static files, relative to the current folder, which is the root of the source
 * @param isPages - whether it is the folder of a Pages project
 * @returns paths relative to `directory`
 */
export function listIgnoredAssets(directory: string, isPages: boolean): string[] {
  const rules = ignore().add(path.normalize(`${directory}/`) === "./" ? IGNORED_AT_ROOT : []);
  if (isPages) rules.add(IGNORED_ON_PAGES);
  const file = path.join(directory, ".assetsignore");
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === true) rules.add(readFileSync(file, "utf8"));
  rules.add(".assetsignore");
  const isFolder = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? listIgnored(directory, "", rules) : [];
}

function listIgnored(directory: string, prefix: string, rules: Ignore): string[] {
  return readdirSync(path.join(directory, prefix), { withFileTypes: true }).flatMap((entry) => {
    const name = prefix + entry.name;
    if (Buffer.byteLength(name) > MAX_PATH_BYTES) return [];
    if (rules.ignores(entry.isDirectory() ? `${name}/` : name)) return [name];
    return entry.isDirectory() ? listIgnored(directory, `${name}/`, rules) : [];
  });
}
