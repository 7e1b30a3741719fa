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

/** Reads the sources of a Node server, in which the paths stand at which it may offer procedures. Follows no link. */
export async function readSources(directory: string): Promise<string> {
  const texts: string[] = [];
  const pending = [directory];
  let length = 0;
  let files = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory() && !OTHER_FOLDERS.has(entry.name) && !entry.name.startsWith(".")) pending.push(file);
      if (!entry.isFile() || !SOURCE.test(entry.name)) continue;
      if (++files > MAX_FILES || length > MAX_TOTAL_CHARACTERS) return texts.join("\n");
      const text = (await readUntrusted(file, MAX_FILE_BYTES).catch(() => null)) ?? "";
      length += text.length;
      texts.push(text);
    }
  }
  return texts.join("\n");
}
