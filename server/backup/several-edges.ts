import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { beginRestore, readBucketInstallation } from "../installation/bucket-installation.ts";
import type { Installation } from "../installation/installation.ts";
import { DeletionHold } from "../platforms/embedded/cluster/deletion-hold.ts";
import { SharedBucket } from "../platforms/embedded/cluster/shared-bucket.ts";
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

/** @throws {BackupError} when no edge has used the bucket */
export async function requireSharedInstallation(bucket: SharedBucket): Promise<Installation> {
  const installation = await readBucketInstallation(bucket);
  if (installation !== null) return installation;
  throw new BackupError("S3_PREFIX: the object store has no installation with several edges.");
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
 * Marks the bucket as the place of an unfinished restore. Nothing else may use it then.
 *
 * @throws {BackupError} when it belongs to an installation, or another restore has begun
 */
export async function claimForRestore(bucket: SharedBucket, { installation }: Manifest): Promise<void> {
  const isOwn = await beginRestore(bucket, installation);
  if (!isOwn)
    throw new BackupError("Another restore into this object store has begun. Set S3_PREFIX to another folder.");
}

/**
 * Returns the installation of an unfinished restore into the bucket, if there is one.
 *
 * @throws {BackupError} when the bucket belongs to an installation
 */
export async function readUnusedBucket(bucket: SharedBucket): Promise<Installation | null> {
  const found = await readBucketInstallation(bucket);
  if (found === null || found.state === "restoring") return found;
  throw new BackupError("S3_PREFIX: the objects belong to an installation. Set S3_PREFIX to a folder without objects.");
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
