// Runs inside the sandbox. Does one operation of the app builder agent on the files of a project: reads a request from a file,
// and prints the result as JSON. The path of the project is the current folder, and nothing outside of it is reachable by a path.
//
// usage: node file-tool.mjs <request>
import fs from "node:fs";
import path from "node:path";

const MAX_ENTRIES = 1000;
const MAX_READ = 30_000;
const MAX_FILE = 2 * 1024 * 1024;
const MAX_HITS = 100;
const MAX_LINE = 300;

/** Folders that belong to tools. The agent neither sees nor changes them. */
const HIDDEN = new Set([".git", "node_modules"]);
const LOCKFILES = new Set([
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
]);
const DEPENDENCIES = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides"];

const root = fs.realpathSync(process.cwd());

class Refused extends Error {}

/** Resolves a path of the project. Every folder on the way must exist as a folder, so no link leads elsewhere. */
function resolve(given, { mayBeNew = false } = {}) {
  if (typeof given !== "string" || given === "" || given.includes("\0")) throw new Refused("path must be a path");
  const relative = path.posix.normalize(given.replace(/^\.\//, ""));
  const segments = relative.split("/");
  if (path.isAbsolute(given) || segments.includes("..") || relative === ".")
    throw new Refused("The path must be relative, and inside the project.");
  if (segments.some((segment) => HIDDEN.has(segment.toLowerCase())))
    throw new Refused(".git and node_modules are not available.");
  let folder = root;
  for (const segment of segments.slice(0, -1)) {
    folder = path.join(folder, segment);
    const status = fs.lstatSync(folder, { throwIfNoEntry: false });
    if (status === undefined && mayBeNew) continue;
    if (!status?.isDirectory()) throw new Refused(`${relative} does not exist.`);
  }
  const file = path.join(root, ...segments);
  const status = fs.lstatSync(file, { throwIfNoEntry: false });
  if (status === undefined && !mayBeNew) throw new Refused(`${relative} does not exist.`);
  if (status !== undefined && (!status.isFile() || status.nlink > 1))
    throw new Refused(`${relative} is a link, a folder or another special file.`);
  return { file, relative, isNew: status === undefined };
}

function readText(file, relative) {
  if (fs.statSync(file).size > MAX_FILE) throw new Refused(`${relative} is too large.`);
  const content = fs.readFileSync(file);
  if (content.includes(0)) throw new Refused(`${relative} is not a text file.`);
  return content.toString("utf8");
}

function* walk(folder) {
  const entries = fs.readdirSync(path.join(root, folder), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (HIDDEN.has(entry.name.toLowerCase())) continue;
    const relative = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(relative);
    else if (entry.isFile()) yield relative;
  }
}

function checkProtected(relative, before, after) {
  const name = path.posix.basename(relative);
  if (LOCKFILES.has(name)) throw new Refused("Lockfiles change only through add_dependency.");
  if (name !== "package.json" || after === null) return;
  const [old, current] = [before, after].map(parseManifest);
  if (current === null) throw new Refused("package.json would not be valid JSON.");
  for (const field of DEPENDENCIES)
    if (JSON.stringify(old?.[field] ?? {}) !== JSON.stringify(current[field] ?? {}))
      throw new Refused(`${field} of package.json change only through add_dependency.`);
}

function parseManifest(text) {
  try {
    const value = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}

const OPERATIONS = {
  list({ folder = "" }) {
    const files = [];
    const prefix = folder === "" || folder === "." ? "" : `${folder.replace(/\/$/, "")}/`;
    for (const file of walk("")) {
      if (!file.startsWith(prefix)) continue;
      files.push(file);
      if (files.length === MAX_ENTRIES) return { files, note: `Only the first ${MAX_ENTRIES} files are listed.` };
    }
    return { files };
  },

  read({ path: given, offset = 1 }) {
    const { file, relative } = resolve(given);
    const lines = readText(file, relative).split("\n");
    const numbered = lines.slice(offset - 1).map((line, index) => `${index + offset}\t${line}`);
    const content = numbered.join("\n");
    if (content.length <= MAX_READ) return { content };
    const shown = content.slice(0, MAX_READ);
    return {
      content: shown,
      note: `There are ${lines.length} lines. Read on from line ${offset + shown.split("\n").length - 1}.`,
    };
  },

  search({ text }) {
    if (typeof text !== "string" || text === "") throw new Refused("text must not be empty");
    const hits = [];
    for (const relative of walk("")) {
      const file = path.join(root, relative);
      if (LOCKFILES.has(path.posix.basename(relative)) || fs.statSync(file).size > MAX_FILE) continue;
      const content = fs.readFileSync(file);
      if (content.includes(0)) continue;
      for (const [index, line] of content.toString("utf8").split("\n").entries()) {
        if (!line.includes(text)) continue;
        hits.push(`${relative}:${index + 1}: ${line.trim().slice(0, MAX_LINE)}`);
        if (hits.length === MAX_HITS) return { hits, note: `Only the first ${MAX_HITS} lines are listed.` };
      }
    }
    return { hits };
  },

  edit({ path: given, old_string: old, new_string: replacement, replace_all: all = false }) {
    const { file, relative } = resolve(given);
    if (typeof old !== "string" || old === "") throw new Refused("old_string must not be empty");
    const before = readText(file, relative);
    const count = before.split(old).length - 1;
    if (count === 0) throw new Refused("old_string was not found. Read the file again, and copy the text exactly.");
    if (count > 1 && !all)
      throw new Refused(`old_string occurs ${count} times. Add lines around it, or set replace_all.`);
    const after = before.split(old).join(replacement);
    checkProtected(relative, before, after);
    fs.writeFileSync(file, after);
    return { replaced: count };
  },

  write({ path: given, content }) {
    const { file, relative, isNew } = resolve(given, { mayBeNew: true });
    if (typeof content !== "string") throw new Refused("content must be text");
    checkProtected(relative, isNew ? null : readText(file, relative), content);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
    return { written: relative, is_new: isNew };
  },

  delete({ path: given }) {
    const { file, relative } = resolve(given);
    checkProtected(relative, null, null);
    if (path.posix.basename(relative) === "package.json") throw new Refused("package.json cannot be deleted.");
    fs.rmSync(file);
    return { deleted: relative };
  },
};

function run() {
  const { operation, ...input } = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
  try {
    return OPERATIONS[operation](input);
  } catch (error) {
    if (error instanceof Refused) return { error: error.message };
    return { error: `The file system refused it: ${error.code ?? "unknown error"}.` };
  }
}

process.stdout.write(JSON.stringify(run()));
