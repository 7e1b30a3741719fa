import { lstat } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { nullIfMissing } from "../../files/missing-file.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { commandsOf } from "./inside/script-commands.ts";

/** The scripts that an install and a build run, and the one that starts the server. */
const FIRST_SCRIPTS = [
  ...["preinstall", "install", "postinstall", "prepublish", "prepare", "prebuild", "build", "postbuild"],
  ...["heroku-postbuild", "prestart", "start"],
];

const MAX_PACKAGES = 10;
const MAX_MANIFEST_BYTES = 1024 * 1024;

const dependencies = z.record(z.string(), z.unknown()).optional();
const manifestSchema = z.object({ dependencies, devDependencies: dependencies });

/**
 * Finds the packages in folders of a project that its scripts use, such as `client` for `cd client && npm install && npm run
 * build`, or the server in `node api/server.js`. They have dependencies of their own and are in no workspace.
 *
 * @param directory - the folder of the project; links are not followed
 * @returns their folders, relative to that of the project
 */
export async function findNestedPackages(
  directory: string,
  scripts: Readonly<Record<string, unknown>>,
): Promise<string[]> {
  const found: string[] = [];
  for (const folder of foldersOf(scripts))
    if (found.length < MAX_PACKAGES && (await hasDependencies(directory, folder))) found.push(folder);
  return found;
}

/** The folders that scripts name, if an install, a build or the start may run these scripts. */
function foldersOf(scripts: Readonly<Record<string, unknown>>): Set<string> {
  const folders = new Set<string>();
  for (const text of reachableScripts(scripts))
    for (const { folder, words, options } of commandsOf(text)) {
      const files = words.filter((word) => /^[\w./-]+\/[\w.-]+\.[cm]?[jt]s$/.test(word));
      for (const named of [folder, ...options, ...files.flatMap(foldersAbove)])
        for (const each of [named, path.join(folder, named)]) folders.add(path.normalize(each).replace(/\/$/, ""));
    }
  const isBelow = (folder: string) => !/^(?:\/|\.{1,2}(?:\/|$))|(?:^|\/)node_modules(?:\/|$)/.test(folder);
  return new Set([...folders].filter(isBelow));
}

/** `a/b` and `a` for `a/b/server.js`. */
function foldersAbove(file: string): string[] {
  const folder = path.dirname(file);
  return folder === "." || folder === "/" ? [] : [folder, ...foldersAbove(folder)];
}

function reachableScripts(scripts: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(scripts);
  const reached = new Set(FIRST_SCRIPTS.filter((name) => Object.hasOwn(scripts, name)));
  for (const name of reached) {
    const words = scriptsRunBy(String(scripts[name]));
    // `npm-run-all build:*` runs all that begin so.
    const prefixes = words
      .filter((word) => word.endsWith(":*") || word.endsWith(":**"))
      .map((word) => word.replace(/\*+$/, ""));
    for (const each of names)
      if (words.includes(each) || prefixes.some((prefix) => each.startsWith(prefix))) reached.add(each);
  }
  return [...reached].map((name) => String(scripts[name]));
}

/** What follows a program that runs scripts, such as `build:web` in `npm run build:web` and `npm-run-all -p build:web`. */
function scriptsRunBy(text: string): string[] {
  return text.split(/[&|;()]+/).flatMap((command) => {
    const words = command.split(/[\s"']+/);
    const runner = words.findIndex((word) => RUNNER.test(word));
    return runner === -1 ? [] : words.slice(runner).map((word) => word.replace(/^npm:/, ""));
  });
}

const RUNNER = /^(?:npm|pnpm|yarn|bun|npm-run-all2?|run-[sp]|wireit|concurrently)$/;

async function hasDependencies(directory: string, folder: string): Promise<boolean> {
  const parts = folder.split("/");
  for (let count = 1; count <= parts.length; count++) {
    const status = await lstat(path.join(directory, ...parts.slice(0, count))).catch(nullIfMissing);
    if (status?.isDirectory() !== true) return false;
  }
  const text = await readUntrusted(path.join(directory, folder, "package.json"), MAX_MANIFEST_BYTES).catch(() => null);
  if (text === null) return false;
  try {
    const manifest = manifestSchema.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
    return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).length > 0;
  } catch {
    // Whatever uses the folder reports it.
    return false;
  }
}
