import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";

/** The folders of the host that one process can access. */
export interface AppFolders {
  /** The app's own storage; `null` for storage that is removed with the process. */
  storageDirectory: string | null;
  /** The app's SQL database; `null` as above. */
  databaseDirectory: string | null;
  /** The app's static files, read-only; `null` if it has none. */
  assetsDirectory: string | null;
}

/** The folders of one process. */
export interface WorkerdFolders {
  /** The folder of this launch, to be removed after the process has ended. */
  launch: string;
  storage: string;
  database: string;
  /** Those of storage that the process can write to. A process that uses no storage has none, and they need not exist. */
  writable: readonly string[];
  assets: string | null;
}

/** Each kind of storage has its own folder. Miniflare must not create them, because it is not the user of the sandbox. */
const STORAGE_KINDS = ["kv", "r2", "do", "workflows"];

/**
 * Creates the folders of one process. The folder of the launch is created below `launchRoot`.
 *
 * @param hasStorage - whether the process uses storage
 */
export async function createWorkerdFolders(
  launchRoot: string,
  folders: AppFolders,
  hasStorage: boolean,
): Promise<WorkerdFolders> {
  const launch = path.join(launchRoot, randomUUID());
  const storage = folders.storageDirectory ?? path.join(launch, "storage");
  const database = folders.databaseDirectory ?? path.join(launch, "database");
  const stored = hasStorage ? [database, ...STORAGE_KINDS.map((kind) => path.join(storage, kind))] : [];
  for (const folder of [launch, ...stored]) await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    launch,
    storage,
    database,
    writable: hasStorage ? [storage, database] : [],
    assets: folders.assetsDirectory,
  };
}
