import { existsSync } from "node:fs";
import path from "node:path";
import type { Config } from "../config.ts";
import { appsDatabaseFolder, readPassword, startAppsPostgres } from "../database/apps-postgres.ts";
import { databaseFolder, EmbeddedPostgres } from "../database/embedded/embedded-postgres.ts";
import { FolderInUse, lockFolder } from "../files/folder-lock.ts";
import { createLogger } from "../telemetry/logger.ts";
import type { Cluster } from "./postgres-backup.ts";

/** The embedded PostgreSQL of the service: the running one, or one that this process starts. */
export async function openServiceCluster(dataDirectory: string, opening: AsyncDisposableStack): Promise<Cluster> {
  const folder = databaseFolder(dataDirectory);
  const url = await openCluster(
    async () => opening.use(await EmbeddedPostgres.start(folder, createLogger("silent"))).url,
    () => opening.adopt(EmbeddedPostgres.connect(folder), (address) => address.release()).url,
  );
  return { url, data: path.join(folder, "data") };
}

/** Likewise for the one of apps; `null` if no app has used it. */
export async function openAppsCluster(dataDirectory: string, opening: AsyncDisposableStack): Promise<Cluster | null> {
  const folder = appsDatabaseFolder(dataDirectory);
  const data = path.join(folder, "data");
  if (!existsSync(data)) return null;
  const password = await readPassword(folder);
  const url = await openCluster(
    async () => opening.use(await startAppsPostgres(folder, createLogger("silent"))).url,
    () => opening.adopt(EmbeddedPostgres.connect(folder, password), (address) => address.release()).url,
  );
  return { url, data };
}

async function openCluster(start: () => Promise<string>, connect: () => string): Promise<string> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof FolderInUse) return connect();
    throw error;
  }
}

/** Keeps the service from starting while this process uses its data folder; does nothing if the service runs. */
export function keepServiceStopped(
  { dataDirectory }: Pick<Config, "dataDirectory">,
  opening: AsyncDisposableStack,
): void {
  try {
    opening.adopt(lockFolder(path.join(dataDirectory, "edge")), (lock) => lock.release());
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
  }
}
