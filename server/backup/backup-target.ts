import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import type { ObjectStore } from "../../domain/ports/object-store.ts";
import { openS3Store } from "../composition/object-store.ts";
import { FilesystemObjectStore } from "../drivers/object-store/filesystem.ts";
import { nullIfMissing } from "../files/missing-file.ts";
import { runTool } from "../sandbox/run-tool.ts";
import { startChild } from "../sandbox/start-process.ts";
import { BackupError } from "./backup-error.ts";
import type { BackupSettings } from "../config/backup-settings.ts";

/** A place for backups. */
export interface BackupTarget extends Disposable {
  store: ObjectStore;
  /** Whether it is on another machine. */
  isRemote: boolean;
  /** Writes everything to disk. */
  sync(): Promise<void>;
}

const S3_ADDRESS = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)\/?$/;
/** What a place for backups has. */
const OWN_NAMES = ["repository", "chunks", "backups", ".staging", "lock"];

/**
 * Opens the place that the command line names: a folder, or `s3://bucket/folder`.
 *
 * @throws {BackupError} for an invalid place
 */
export async function openTarget(address: string, settings: BackupSettings): Promise<BackupTarget> {
  if (/^[a-z0-9]+:\/\//i.test(address)) return await openS3Target(address, settings);
  const folder = path.resolve(address);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new BackupError(`${folder} cannot be used as a folder for backups (${error.message}).`);
  });
  const other = names?.find((name) => !OWN_NAMES.includes(name));
  if (other !== undefined)
    throw new BackupError(`${folder} has other content (${other}). Name an empty folder, or one with backups.`);
  return {
    store: new FilesystemObjectStore(folder),
    isRemote: false,
    sync: () => syncFileSystem(folder),
    [Symbol.dispose]: () => undefined,
  };
}

/** Creates the folder of a place for backups, which only its owner can read. */
export async function createTargetFolder(address: string): Promise<void> {
  if (!address.includes("://")) await mkdir(path.resolve(address), { recursive: true, mode: 0o700 });
}

/** Writes all files below a folder to disk. One system call for the file system is faster than one for each of many files. */
export async function syncFileSystem(folder: string): Promise<void> {
  if ((await readdir(folder).catch(nullIfMissing)) !== null) await runTool(startChild, ["sync", "-f", "--", folder]);
}

async function openS3Target(address: string, { s3 }: BackupSettings): Promise<BackupTarget> {
  const [, bucket = "", folder = ""] = S3_ADDRESS.exec(address) ?? [];
  if (bucket === "")
    throw new BackupError(
      "The place for backups must be a folder, or s3://bucket/folder, such as s3://backups/production",
    );
  if (s3 === null)
    throw new BackupError("Set BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY.");
  const prefix = folder === "" ? "" : `${folder.slice(1)}/`;
  const store = await openS3Store({ ...s3, bucket, prefix });
  return {
    store,
    isRemote: true,
    sync: () => Promise.resolve(),
    [Symbol.dispose]: () => store[Symbol.dispose](),
  };
}
