import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** The files of an installation that the databases do not have, by path. */
export async function readInstallationFiles(dataDirectory: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const name of await readdir(dataDirectory, { recursive: true, withFileTypes: true })) {
    const file = path.join(name.parentPath, name.name);
    const relative = path.relative(dataDirectory, file);
    if (!name.isFile() || !/^(?:objects|secrets|auth-entries|edge\/(?:scripts|databases))\//.test(relative)) continue;
    // Shared memory of running processes.
    if (!relative.endsWith("-shm")) files[relative] = (await readFile(file)).toString("base64");
  }
  return files;
}
