import path from "node:path";
import { openObjectStore } from "../composition/object-store.ts";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { openDatabase } from "../database/open-database.ts";
import { MemoryCounter } from "../drivers/counter/memory-counter.ts";
import { lockFolder } from "../files/folder-lock.ts";
import { readInstallation, writeInstallation } from "../installation/installation.ts";
import { ownerOfObjects } from "../installation/object-owner.ts";
import { type OwnerRecord, takeOwnership } from "../installation/ownership.ts";
import { readSharedInstallation, recordInstallation } from "../installation/shared-installation.ts";
import { openOwner } from "../platforms/cloudflare/open-cloudflare-platform.ts";
import { createLogger } from "../telemetry/logger.ts";

type TakeOverConfig = Pick<Config, "dataDirectory" | "databaseUrl" | "s3" | "cloudflare"> &
  Partial<Pick<Config, "edgeCluster">>;

/**
 * Makes a restored copy the active installation. Its jobs run from the next start on. The earlier installation cannot start any more on
 * the same object store or in the same Cloudflare account, and stops if it runs. Safe to repeat.
 *
 * @param options.waitMs - how long an earlier installation that still runs may continue to change what both have
 * @throws {ConfigError} when the data folder has no restored copy
 * @throws {FolderInUse} while the service runs
 */
export async function takeOver(config: TakeOverConfig, options: { waitMs?: number } = {}): Promise<object> {
  await using opening = new AsyncDisposableStack();
  const { dataDirectory, databaseUrl, cloudflare, edgeCluster = null } = config;
  const file = await readInstallation(dataDirectory);
  const isShared = cloudflare !== null || edgeCluster !== null;
  const hasShared = isShared && databaseUrl !== null && file?.state !== "restoring";
  const em = hasShared ? opening.use(await openDatabase(config, createLogger("silent"))).orm.em : null;
  const found = em === null ? file : await readSharedInstallation(em, dataDirectory);
  if (found === null || found.state === "restoring")
    throw new ConfigError(`DATA_DIR: ${dataDirectory} has no restored copy of an installation.`);
  if (found.state === "active") return { installation: found.id, epoch: found.epoch };
  opening.adopt(lockFolder(path.join(dataDirectory, "edge")), (lock) => lock.release());
  const epoch = await takeOwnership(await openRecords(config, opening), found, options);
  const taken = { id: found.id, epoch, state: "active" } as const;
  if (em !== null) await recordInstallation(em, dataDirectory, taken);
  await writeInstallation(dataDirectory, taken);
  return { installation: found.id, epoch };
}

/** Where what is outside of the data folder names its owner. */
async function openRecords(config: TakeOverConfig, opening: AsyncDisposableStack): Promise<OwnerRecord[]> {
  const { s3, cloudflare } = config;
  return [
    ...(s3 === null ? [] : [ownerOfObjects(await openObjectStore(config, opening))]),
    ...(cloudflare === null ? [] : [openOwner({ ...cloudflare, counter: new MemoryCounter() })]),
  ];
}
