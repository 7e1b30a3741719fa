import { mkdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Another process uses the data folder. */
export class FolderInUse extends Error {
  override readonly name = "FolderInUse";
}

/**
 * Locks a folder for this process. Two processes that use one folder would destroy its content, and workerd takes no
 * lock. The kernel releases the lock when the process ends, however it ends.
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
