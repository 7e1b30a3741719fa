import { randomUUID } from "node:crypto";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { SandboxUsers } from "./sandbox-users.ts";

/** What one process gets to see of the disk. */
export interface Folders {
  /** Where the app's own storage lives; `null` for storage that goes away with the process. */
  storageDirectory: string | null;
  /** Where the app's SQL database lives; `null` as above. */
  databaseDirectory: string | null;
  /** The app's static files, read-only; `null` when it has none. */
  assetsDirectory: string | null;
}

/** The folders and the user of one process. */
export interface Run {
  /** Removed when the process is gone. */
  directory: string;
  storage: string;
  database: string;
  assets: string | null;
  /** `null` where all sandboxes share the service's own user. */
  uid: number | null;
}

/** Each kind of storage has a folder of its own; Miniflare, which is not the sandbox's user, must not make them. */
const STORAGE_KINDS = ["kv", "r2", "do", "workflows"];

/** Lays out the folders of one process below `runRoot` and hands them to the user it will have. */
export async function prepareRun(runRoot: string, folders: Folders, users: SandboxUsers | null): Promise<Run> {
  const directory = path.join(runRoot, randomUUID());
  // The wrapper script binds what the sandbox may see to these.
  for (const name of ["storage", "database", "assets"]) await mkdir(path.join(directory, name), { recursive: true });
  await writeFile(path.join(directory, "workerd"), "");
  await chmod(directory, 0o755);
  const storage = folders.storageDirectory ?? path.join(directory, "scratch", "storage");
  const database = folders.databaseDirectory ?? path.join(directory, "scratch", "database");
  for (const kind of STORAGE_KINDS) await mkdir(path.join(storage, kind), { recursive: true });
  await mkdir(database, { recursive: true });
  const uid = (await users?.take([storage, database])) ?? null;
  return { directory, storage, database, assets: folders.assetsDirectory, uid };
}
