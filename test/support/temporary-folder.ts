import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../../server/files/remove-tree.ts";
import { unmountVolumes } from "../../server/sandbox/memory-volume.ts";
import { ownIdentity } from "../../server/sandbox/process-identity.ts";
import { findAbandonedFolders } from "../../server/sandbox/socket-folder.ts";

const PREFIX = "test";

export interface TemporaryFolder extends AsyncDisposable {
  path: string;
}

/** Creates an empty folder. It is removed on disposal, with its contents. */
export async function temporaryFolder(parent = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, `${PREFIX}-${ownIdentity()}-`));
  return { path, [Symbol.asyncDispose]: () => removeTree(path) };
}

/** Removes the folders of test processes that were killed. */
export async function removeAbandonedFolders(parent: string): Promise<void> {
  for (const folder of await findAbandonedFolders(parent, [PREFIX])) {
    await unmountVolumes(folder);
    await removeTree(folder);
  }
}
