import { readdir } from "node:fs/promises";
import path from "node:path";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";

const MAX_FILES = 2000;
const MAX_FILE_BYTES = 512 * 1024;
const MAX_TOTAL_CHARACTERS = 8 * 1024 * 1024;
const SOURCE = /\.[cm]?[jt]sx?$/;
/** Folders of packages, of build output, of tests, and of files for browsers. */
const OTHER_FOLDERS = new Set([
  "node_modules",
  "dist",
  "build",
  "out",
  "coverage",
  "public",
  "static",
  "test",
  "tests",
  "e2e",
]);

/** What the sources of a Node server say about the paths at which it may offer procedures. */
interface ServerSources {
  text: string;
  /** The files, relative to the root of the repository, in no particular order. */
  files: string[];
}

/** Reads the sources of a Node server, as far as the bounds allow. Follows no link. */
export async function readSources(directory: string): Promise<ServerSources> {
  const texts: string[] = [];
  const files: string[] = [];
  const pending = [directory];
  let length = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory() && !OTHER_FOLDERS.has(entry.name) && !entry.name.startsWith(".")) pending.push(file);
      if (!entry.isFile() || !SOURCE.test(entry.name)) continue;
      if (files.length === MAX_FILES || length > MAX_TOTAL_CHARACTERS) return { text: texts.join("\n"), files };
      files.push(path.relative(directory, file));
      const text = (await readUntrusted(file, MAX_FILE_BYTES).catch(() => null)) ?? "";
      length += text.length;
      texts.push(text);
    }
  }
  return { text: texts.join("\n"), files };
}
