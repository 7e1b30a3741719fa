import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isAbandoned, ownIdentity } from "./process-identity.ts";

const PURPOSES = ["packages", "egress", "fork-server"] as const;

export interface SocketFolder extends AsyncDisposable {
  path: string;
}

/**
 * Creates a folder for a unix socket that only this user can enter. Disposing removes it. It is not in the data folder,
 * whose path may exceed the 107 bytes that the path of a unix socket can have.
 */
export async function createSocketFolder(purpose: (typeof PURPOSES)[number]): Promise<SocketFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), `${purpose}-${ownIdentity()}-`));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Removes the folders of processes that were killed. A link is removed and not followed. */
export async function removeAbandonedSocketFolders(): Promise<void> {
  for (const folder of await findAbandonedFolders(tmpdir(), PURPOSES))
    await rm(folder, { recursive: true, force: true });
}

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
