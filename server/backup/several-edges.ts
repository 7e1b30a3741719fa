import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { openDatabase } from "../database/open-database.ts";
import type { Installation } from "../installation/installation.ts";
import { readSharedInstallation } from "../installation/shared-installation.ts";
import { EDGE_FOLDER, RESTORE_KEY } from "../platforms/embedded/cluster/bucket-layout.ts";
import { DeletionHold } from "../platforms/embedded/cluster/deletion-hold.ts";
import { SharedBucket } from "../platforms/embedded/cluster/shared-bucket.ts";
import { createLogger } from "../telemetry/logger.ts";
import { BackupError } from "./backup-error.ts";
import type { BackupRepository } from "./backup-repository.ts";
import type { BucketSource } from "./bucket-source.ts";
import { copySharedBucket } from "./copy-shared-bucket.ts";
import type { BackupEntry, Manifest } from "./manifest.ts";

/** Larger objects go through a file, because a request needs the hash of its body. */
const MAX_MEMORY_BYTES = 8 * 1024 * 1024;

/** Opens the bucket that several edges share; `null` with one edge. */
export function openSharedBucket(
  { edgeCluster, s3 }: Pick<Config, "edgeCluster" | "s3">,
  opening: AsyncDisposableStack,
): SharedBucket | null {
  if (edgeCluster === null) return null;
  if (s3 === null) throw new ConfigError("EDGE_CLUSTER=on needs OBJECT_STORE=s3");
  return opening.use(new SharedBucket(s3));
}

/** Returns what the database says about the installation of several edges. */
export async function readInstallationOfEdges(
  config: Pick<Config, "dataDirectory" | "databaseUrl">,
): Promise<Installation> {
  await using database = await openDatabase(config, createLogger("silent"));
  return await readSharedInstallation(database.orm.em, config.dataDirectory);
}

/**
 * Checks that the database of a restore is a restored dump: the apps and jobs of a copy would otherwise change the living installation.
 *
 * @throws {BackupError}
 */
export async function requireRestoredDump(
  config: Pick<Config, "dataDirectory" | "databaseUrl">,
  { installation }: Manifest,
): Promise<void> {
  const { id, state } = await readInstallationOfEdges(config);
  if (id !== installation.id)
    throw new BackupError(
      "DATABASE_URL is not the database of the installation in the backup. Restore its dump before.",
    );
  if (state === "active")
    throw new BackupError(
      "DATABASE_URL is the database of the living installation. Restore its dump to another database.",
    );
}

/**
 * Adds what several edges share to a backup.
 *
 * @throws {BackupError} while another backup is being made
 */
export async function addSharedBucket(source: BucketSource): Promise<void> {
  const begun = await DeletionHold.begin(source.bucket);
  if (begun === null)
    throw new BackupError(
      "Another backup of this installation is being made, or was interrupted less than a minute ago.",
    );
  await using hold = begun;
  await copySharedBucket(source);
  await hold.requireUnbroken();
}

/**
 * Marks the bucket as the place of an unfinished restore, so that no edge starts on it.
 *
 * @throws {BackupError} when another restore has begun
 */
export async function beginRestore(bucket: SharedBucket, { installation }: Manifest): Promise<void> {
  const mark = Buffer.from(JSON.stringify({ id: installation.id }));
  if ((await bucket.write(RESTORE_KEY, mark, { ifNoneMatch: "*" })) !== null) return;
  throw new BackupError("Another restore into this object store has begun. Set S3_PREFIX to another folder.");
}

/**
 * Returns whether the bucket has the remains of a restore.
 *
 * @throws {BackupError} when it has apps
 */
export async function hasUnfinishedRestore(bucket: SharedBucket): Promise<boolean> {
  if ((await bucket.read(RESTORE_KEY)) !== null) return true;
  const { objects } = await bucket.listPage({ prefix: `${EDGE_FOLDER}/`, "max-keys": "1" });
  if (objects.length === 0) return false;
  throw new BackupError("S3_PREFIX: the objects belong to an installation. Set S3_PREFIX to a folder without objects.");
}

/** Lets edges start on the bucket. */
export async function completeRestore(bucket: SharedBucket): Promise<void> {
  await bucket.remove(RESTORE_KEY);
}

/** Writes an object of a backup to the bucket. */
export async function restoreSharedObject(
  repository: BackupRepository,
  entry: Extract<BackupEntry, { kind: "shared_object" }>,
  { bucket, dataDirectory }: { bucket: SharedBucket | null; dataDirectory: string },
): Promise<void> {
  if (bucket === null) throw new Error("The backup has objects of several edges");
  if (entry.size <= MAX_MEMORY_BYTES) {
    const chunks = await Array.fromAsync(repository.read(entry));
    await bucket.write(entry.key, Buffer.concat(chunks));
    return;
  }
  const folder = path.join(dataDirectory, "backup-work");
  const file = path.join(folder, randomUUID());
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await pipeline(repository.read(entry), createWriteStream(file, { mode: 0o600 }));
    await bucket.writeFile(entry.key, file);
  } finally {
    await rm(file, { force: true });
  }
}
