import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { isAbandoned } from "./process-identity.ts";

/** Finds the folders of this user named `<prefix>-<identity>-…` in `parent` whose process was killed. */
export async function findAbandonedFolders(parent: string, prefixes: readonly string[]): Promise<string[]> {
  const found = [];
  for (const name of await readdir(parent)) {
    const prefix = prefixes.find((each) => name.startsWith(`${each}-`));
    if (prefix === undefined || !isAbandoned(name.slice(prefix.length + 1))) continue;
    const folder = path.join(parent, name);
    // Every user may create such a name. Of a link, the owner of the link counts.
    const stats = await lstat(folder).catch(() => null);
    if (stats?.uid === process.getuid?.()) found.push(folder);
  }
  return found;
}
