import { mkdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Another process uses the data folder. */
export class FolderInUse extends Error {
  override readonly name = "FolderInUse";
}

/**
 * Takes a folder for this process alone. PGlite and workerd take no locks, and two processes on one folder destroy
 * what is in it. The kernel drops the lock when the process dies, however it dies.
 *
 * @throws {FolderInUse}
 */
export function lockFolder(directory: string): { release(): void } {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(path.join(directory, "lock"));
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    throw new FolderInUse(`${directory} is in use by another process of this service; stop it, or set DATA_DIR`, {
      cause,
    });
  }
  return { release: () => lock.close() };
}
