import { readdir } from "node:fs/promises";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";

const LOCKFILES = [
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "yarn.lock",
  "bun.lock",
];
/** Of all files together. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_NAMES = 100_000;
/** After so many words other work of the process goes on. */
const WORDS_AT_A_TIME = 10_000;
/** Bounds the search for the manifests of a monorepo. */
const MAX_FOLDERS = 5000;

/** A package name, or any other text that has the form of one. */
const NAME = /(?:@[\w~.-]+\/)?[\w~][\w~.-]*/g;

/** Returns the texts of all manifests and lockfiles of a project, up to a size. */
export async function readProjectTexts(directory: string): Promise<string[]> {
  const files = [...LOCKFILES.map((name) => path.join(directory, name)), ...(await findManifests(directory))];
  const texts: string[] = [];
  let bytesLeft = MAX_BYTES;
  for (const file of files) {
    const text = (await readUntrusted(file, bytesLeft).catch(nullIfTooLarge)) ?? "";
    bytesLeft -= text.length;
    texts.push(text);
  }
  return texts;
}

/**
 * Returns the package names in the manifests and lockfiles of a project, among other words. The words are not parsed: a
 * project may name any package, so a name by accident allows nothing that the project could not have named.
 */
export async function findPackageNames(texts: readonly string[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const text of texts) await addNames(names, text);
  return names;
}

async function addNames(names: Set<string>, text: string): Promise<void> {
  let words = 0;
  for (const [name] of text.matchAll(NAME)) {
    if (names.size >= MAX_NAMES) return;
    names.add(name);
    if (++words % WORDS_AT_A_TIME === 0) await setImmediate();
  }
}

/** Finds every package.json in breadth-first order. Follows no link. */
export async function findManifests(directory: string): Promise<string[]> {
  const manifests: string[] = [];
  const folders = [directory];
  for (let index = 0; index < folders.length && index < MAX_FOLDERS; index++) {
    const folder = folders[index] ?? directory;
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.name === "package.json") manifests.push(path.join(folder, entry.name));
      const isSource = entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith(".");
      if (isSource) folders.push(path.join(folder, entry.name));
    }
  }
  return manifests;
}

function nullIfTooLarge(error: unknown): null {
  if (error instanceof RangeError) return null;
  throw error;
}
