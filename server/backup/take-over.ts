import path from "node:path";
import { openObjectStore } from "../composition/object-store.ts";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { lockFolder } from "../files/folder-lock.ts";
import { readInstallation, writeInstallation } from "../installation/installation.ts";
import { claimObjects } from "../installation/object-store-owner.ts";

/**
 * Makes a restored copy the active installation. Its jobs run from the next start on, and the earlier installation cannot start on the
 * same object store any more. Safe to repeat.
 *
 * @throws {ConfigError} when the data folder has no restored copy
 * @throws {FolderInUse} while the service runs
 */
export async function takeOver({ dataDirectory, s3 }: Pick<Config, "dataDirectory" | "s3">): Promise<object> {
  const found = await readInstallation(dataDirectory);
  if (found === null || found.state === "restoring")
    throw new ConfigError(`DATA_DIR: ${dataDirectory} has no restored copy of an installation.`);
  if (found.state === "active") return { installation: found.id, epoch: found.epoch };
  await using opening = new AsyncDisposableStack();
  opening.adopt(lockFolder(path.join(dataDirectory, "edge")), (lock) => lock.release());
  const installation = { id: found.id, epoch: found.epoch + 1, state: "active" } as const;
  if (s3 !== null) await claimObjects(await openObjectStore({ dataDirectory, s3 }, opening), installation);
  await writeInstallation(dataDirectory, installation);
  return { installation: installation.id, epoch: installation.epoch };
}
