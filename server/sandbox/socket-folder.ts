import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { findAbandonedFolders } from "./abandoned-folders.ts";
import { ownIdentity } from "./process-identity.ts";

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
