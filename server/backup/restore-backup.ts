import { chmod, mkdir, open, readdir, readFile, rm, symlink, utimes } from "node:fs/promises";
import path from "node:path";
import PQueue from "p-queue";
import type { ObjectStore } from "../../domain/ports/object-store.ts";
import { openObjectStore } from "../composition/object-store.ts";
import type { Config } from "../config.ts";
import { tokenSecretFile } from "../config/token-secret.ts";
import { appsDatabaseFolder, startAppsPostgres } from "../database/apps-postgres.ts";
import { databaseFolder, EmbeddedPostgres } from "../database/embedded/embedded-postgres.ts";
import { nullIfMissing } from "../files/missing-file.ts";
import { readInstallation, writeInstallation } from "../installation/installation.ts";
import { OWNER_BUCKET } from "../installation/object-owner.ts";
import type { SharedBucket } from "../platforms/embedded/cluster/shared-bucket.ts";
import { createLogger } from "../telemetry/logger.ts";
import { BackupError } from "./backup-error.ts";
import { BackupRepository } from "./backup-repository.ts";
import type { BackupTarget } from "./backup-target.ts";
import { syncFileSystem } from "./backup-target.ts";
import { checkOf, postgresMajor } from "./create-backup.ts";
import { type BackupEntry, type Manifest, readIndex, readManifest } from "./manifest.ts";
import {
  beginRestore,
  completeRestore,
  hasUnfinishedRestore,
  openSharedBucket,
  requireRestoredDump,
  restoreSharedObject,
} from "./several-edges.ts";
import { bytesOf } from "../app-files/tree-files.ts";

/** Files that are written at the same time. */
const CONCURRENCY = 8;

export interface RestoreOptions {
  secret: string | null;
  /** The id of a backup; by default the newest one. */
  backup: string | undefined;
}

export interface RestoredBackup {
  backup: string;
  created_at: string;
  files: number;
  objects: number;
  bytes: number;
  warnings: string[];
}

type RestoreConfig = Pick<
  Config,
  "dataDirectory" | "databaseUrl" | "appsDatabaseUrl" | "s3" | "tokenSecret" | "edgeCluster"
>;

/**
 * Fills an empty data folder with a backup. Each chunk is verified. Until the end the folder is marked as incomplete, so the
 * service does not start on it, and a repeated restore begins again.
 *
 * @throws {BackupError}
 */
export async function restoreBackup(
  config: RestoreConfig,
  target: BackupTarget,
  { secret, backup }: RestoreOptions,
): Promise<RestoredBackup> {
  const { dataDirectory } = config;
  const repository = await BackupRepository.openForReading(target.store, secret);
  const id = backup ?? (await repository.listBackups()).at(-1);
  if (id === undefined) throw new BackupError("There is no complete backup at this place.");
  const manifest = await readManifest(repository, id);
  requireSameSettings(config, manifest);
  await using opening = new AsyncDisposableStack();
  const objects = await openObjectStore(config, opening);
  const bucket = openSharedBucket(config, opening);
  if (bucket !== null) await requireRestoredDump(config, manifest);
  await clearIncomplete(dataDirectory, objects, bucket);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await writeInstallation(dataDirectory, { ...manifest.installation, state: "restoring" });
  if (bucket !== null) await beginRestore(bucket, manifest);
  await writeEntries(repository, manifest, { dataDirectory, objects, bucket });
  await recoverDatabases(dataDirectory, manifest);
  await syncFileSystem(dataDirectory);
  await writeInstallation(dataDirectory, { ...manifest.installation, state: "restored" });
  if (bucket !== null) await completeRestore(bucket);
  const { created_at: createdAt, files, objects: objectCount, bytes } = manifest;
  const warnings = [...manifest.warnings, ...(await findOtherSecret(config, manifest))];
  return { backup: manifest.id, created_at: createdAt, files, objects: objectCount, bytes, warnings };
}

async function findOtherSecret({ dataDirectory, tokenSecret }: RestoreConfig, manifest: Manifest): Promise<string[]> {
  if (!hasSecretOfEarlierVersion(manifest)) return [];
  const file = tokenSecretFile(dataDirectory);
  const restored = (await readFile(file, "utf8").catch(nullIfMissing))?.trim();
  if (restored === undefined || restored === tokenSecret) return [];
  return [`Set TOKEN_SECRET to the content of ${file} before the start: it is the secret of the installation.`];
}

function requireSameSettings(config: RestoreConfig, manifest: Manifest): void {
  const { databaseUrl, appsDatabaseUrl, tokenSecret } = config;
  requireSameEdges(config, manifest);
  requireSamePlace("DATABASE_URL", databaseUrl, manifest.database);
  if (manifest.apps_database !== "absent")
    requireSamePlace("APPS_DATABASE_URL", appsDatabaseUrl, manifest.apps_database);
  const { postgres_major: major } = manifest;
  if (major !== 0 && major !== postgresMajor())
    throw new BackupError(
      `The backup is from PostgreSQL ${major}, and the embedded PostgreSQL is version ${postgresMajor()}. Restore it with the version of the service that has made it.`,
    );
  const check = tokenSecret === null ? null : checkOf(tokenSecret);
  if (check === manifest.token_secret_check || hasSecretOfEarlierVersion(manifest)) return;
  throw new BackupError(
    manifest.token_secret_check === null
      ? "The backup has its own TOKEN_SECRET. Unset TOKEN_SECRET."
      : "Set TOKEN_SECRET to the one of the installation in the backup. Without it, encrypted values cannot be read.",
  );
}

function requireSameEdges({ edgeCluster }: RestoreConfig, { edges }: Manifest): void {
  if (edges === "several" && edgeCluster === null)
    throw new BackupError(
      "The backup is from an installation with several edges. Set EDGE_CLUSTER=on, with OBJECT_STORE=s3 and another S3_PREFIX or S3_BUCKET.",
    );
  if (edges === "one" && edgeCluster !== null)
    throw new BackupError("The backup is from an installation with one edge. Unset EDGE_CLUSTER.");
}

/** An earlier version generated a secret also with an outside database. The file is in the backup. */
function hasSecretOfEarlierVersion({ database, token_secret_check: check }: Manifest): boolean {
  return database === "external" && check === null;
}

function requireSamePlace(name: string, url: string | null, place: "embedded" | "external"): void {
  if (place === "embedded" && url !== null)
    throw new BackupError(`The backup has the database of an installation without ${name}. Unset ${name}.`);
  if (place === "external" && url === null)
    throw new BackupError(
      `The backup is from an installation with ${name}. Restore that database, and set ${name} to it.`,
    );
}

/** @throws {BackupError} for a place with data that is not the remains of an interrupted restore */
async function clearIncomplete(
  dataDirectory: string,
  objects: ObjectStore,
  bucket: SharedBucket | null,
): Promise<void> {
  const names = (await readdir(dataDirectory).catch(nullIfMissing)) ?? [];
  const own = await readInstallation(dataDirectory);
  // The bucket is completed last.
  const isUnfinished = bucket !== null && (await hasUnfinishedRestore(bucket));
  const isIncomplete = own?.state === "restoring" || (own?.state === "restored" && isUnfinished);
  const buckets = await objects.listBuckets();
  if (!isIncomplete && names.length > 0)
    throw new BackupError(`${dataDirectory} is not empty. Set DATA_DIR to an empty or absent folder.`);
  if (!isIncomplete && buckets.length > 0)
    throw new BackupError("The object store is not empty. Set S3_PREFIX to a folder without objects.");
  // Another S3_PREFIX than that of the interrupted restore.
  if (buckets.includes(OWNER_BUCKET))
    throw new BackupError("The object store belongs to an installation. Set S3_PREFIX to a folder without objects.");
  for (const bucket of buckets) await objects.removeBucket(bucket);
  // The mark is removed last.
  for (const name of names)
    if (name !== "installation.json") await rm(path.join(dataDirectory, name), { recursive: true, force: true });
}

/** Starts the restored PostgreSQL servers once, which repairs the copied files with the copied write-ahead log. */
async function recoverDatabases(dataDirectory: string, manifest: Manifest): Promise<void> {
  const log = createLogger("silent");
  if (manifest.database === "embedded") {
    await using _ = await EmbeddedPostgres.start(databaseFolder(dataDirectory), log);
  }
  if (manifest.apps_database === "embedded") {
    await using _ = await startAppsPostgres(appsDatabaseFolder(dataDirectory), log);
  }
}

interface Destination {
  dataDirectory: string;
  objects: ObjectStore;
  /** Of several edges. */
  bucket: SharedBucket | null;
}

async function writeEntries(repository: BackupRepository, manifest: Manifest, to: Destination): Promise<void> {
  const folders: { path: string; mode: number }[] = [];
  const links: { path: string; target: string }[] = [];
  const queue = new PQueue({ concurrency: CONCURRENCY });
  let failure: { error: unknown } | null = null;
  for await (const entry of readIndex(repository, manifest)) {
    if (failure !== null) break;
    if (entry.kind === "folder") {
      await mkdir(pathIn(to, entry.path), { recursive: true, mode: 0o700 });
      folders.push(entry);
    } else if (entry.kind === "link") links.push(entry);
    else {
      await queue.onSizeLessThan(CONCURRENCY);
      void queue.add(() => writeContent(repository, entry, to)).catch((error: unknown) => (failure ??= { error }));
    }
  }
  await queue.onIdle();
  if (failure !== null) throw (failure as { error: unknown }).error;
  // Links come last, so that no file is written through one. A folder may forbid its owner to add files.
  for (const { path: link, target } of links) await symlink(Buffer.from(target, "latin1"), pathIn(to, link));
  for (const { path: folder, mode } of folders.toReversed()) await chmod(pathIn(to, folder), mode);
}

async function writeContent(
  repository: BackupRepository,
  entry: Extract<BackupEntry, { kind: "file" | "object" | "shared_object" }>,
  { dataDirectory, objects, bucket }: Destination,
): Promise<void> {
  if (entry.kind === "shared_object") return restoreSharedObject(repository, entry, { bucket, dataDirectory });
  if (entry.kind === "object") return objects.put(entry.bucket, entry.key, repository.read(entry));
  const target = pathIn({ dataDirectory }, entry.path);
  {
    await using file = await open(target, "wx", 0o600);
    for await (const chunk of repository.read(entry)) await file.writeFile(chunk);
    await file.chmod(entry.mode);
  }
  await utimes(target, entry.modified / 1000, entry.modified / 1000);
}

function pathIn({ dataDirectory }: Pick<Destination, "dataDirectory">, entry: string): Buffer {
  return Buffer.concat([Buffer.from(`${dataDirectory}/`), bytesOf(entry)]);
}
