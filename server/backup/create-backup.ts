import { hkdfSync, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import path from "node:path";
import { ObjectMissing, type ObjectStore } from "../../domain/ports/object-store.ts";
import { sha256Hex } from "../../domain/shared/sha256.ts";
import { openNodeServers } from "../composition/edge.ts";
import { openObjectStore } from "../composition/object-store.ts";
import type { Config } from "../config.ts";
import { readPackageVersion } from "../database/embedded/cluster-template.ts";
import { findPostgres } from "../database/embedded/postgres-package.ts";
import { databaseFolder } from "../database/embedded/embedded-postgres.ts";
import { FolderInUse, lockFolder } from "../files/folder-lock.ts";
import { nullIfMissing } from "../files/missing-file.ts";
import { identifyInstallation, type Installation } from "../installation/installation.ts";
import { OWNER_BUCKET } from "../installation/object-owner.ts";
import { EDGE_FOLDER } from "../platforms/embedded/cluster/bucket-layout.ts";
import type { SharedBucket } from "../platforms/embedded/cluster/shared-bucket.ts";
import { SqliteReader } from "../platforms/embedded/app-databases/sqlite-reader.ts";
import { AppFiles } from "../app-files/app-files.ts";
import { BackupError } from "./backup-error.ts";
import { BackupRepository } from "./backup-repository.ts";
import { keepServiceStopped, openAppsCluster, openServiceCluster } from "./backup-sources.ts";
import type { BackupTarget } from "./backup-target.ts";
import { BackupWriter } from "./backup-writer.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { backUpCluster } from "./postgres-backup.ts";
import { removeOldBackups } from "./remove-old-backups.ts";
import { addSharedBucket, openSharedBucket, readInstallationOfEdges } from "./several-edges.ts";

/**
 * Folders of the data folder that the backup copies as they are. Scratch folders and caches are not in it. `agent-workspaces` exists
 * until the first start after an update from a version that stored the files of agents there.
 */
const PLAIN_FOLDERS = ["secrets", "auth-entries", "agent-workspaces"];
const PLAIN_FILES = ["bootstrap.json", "apps-database/password"];

export interface CreateBackupOptions {
  /** The key of the operator; `null` for a backup that is not encrypted. */
  secret: string | null;
  /** How many backups remain at the place; `null` for all. */
  keep: number | null;
  signal: AbortSignal;
}

export interface CreatedBackup {
  backup: string;
  files: number;
  objects: number;
  bytes: number;
  /** What earlier backups did not have, as it is stored. */
  added_bytes: number;
  is_encrypted: boolean;
  /** The ids of the backups that were removed because of `keep`, and the bytes that only they had. */
  removed: string[];
  removed_bytes: number;
  warnings: string[];
}

type BackupConfig = Pick<
  Config,
  "dataDirectory" | "databaseUrl" | "appsDatabaseUrl" | "s3" | "tokenSecret" | "sandbox" | "edgeCluster"
>;

/**
 * Makes a backup of the installation while it runs. The database comes first, then what its rows name, and the databases of the apps
 * last. The manifest is written at the end, so an interrupted backup does not exist, and the next one continues it.
 *
 * @throws {BackupError}
 */
export async function createBackup(
  config: BackupConfig,
  target: BackupTarget,
  { secret, keep, signal }: CreateBackupOptions,
): Promise<CreatedBackup> {
  const { dataDirectory } = config;
  await using opening = new AsyncDisposableStack();
  const bucket = openSharedBucket(config, opening);
  const installation = await requireActive(config, bucket);
  const workFolder = path.join(dataDirectory, "backup-work");
  opening.adopt(lockForBackup(workFolder), (lock) => lock.release());
  // With several edges, the data folder has nothing that they change.
  if (bucket === null) keepServiceStopped(config, opening);
  const repository = await BackupRepository.openForWriting(target.store, secret);
  await requireOwnPlace(repository, installation.id);
  const writer = new BackupWriter(repository);
  const objects = await openObjectStore(config, opening);
  const copies = path.join(workFolder, "copies");
  await rm(copies, { recursive: true, force: true });
  await mkdir(copies, { mode: 0o700 });
  const databases = await addAll(config, { writer, objects, bucket, copies, signal, opening });
  const manifest: Manifest = {
    id: newId(),
    created_at: new Date().toISOString(),
    installation: { id: installation.id, epoch: installation.epoch },
    ...databases,
    edges: bucket === null ? "one" : "several",
    token_secret_check: config.tokenSecret === null ? null : checkOf(config.tokenSecret),
    ...writer.totals,
    warnings: writer.warnings,
    index: await writer.addIndex(),
  };
  await repository.flush();
  await target.sync();
  await repository.putManifest(manifest.id, manifest);
  await target.sync();
  const old = keep === null ? { removed: [], bytes: 0 } : await removeOldBackups(repository, keep);
  return {
    backup: manifest.id,
    ...writer.totals,
    added_bytes: repository.added.bytes,
    is_encrypted: secret !== null,
    removed: old.removed,
    removed_bytes: old.bytes,
    warnings: writer.warnings,
  };
}

/** Backups of several installations at one place could remove the chunks of each other. */
async function requireOwnPlace(repository: BackupRepository, installation: string): Promise<void> {
  const newest = (await repository.listBackups()).at(-1);
  if (newest === undefined || (await readManifest(repository, newest)).installation.id === installation) return;
  throw new BackupError("The place has backups of another installation. Name another one.");
}

interface Sources {
  writer: BackupWriter;
  objects: ObjectStore;
  /** Of several edges. */
  bucket: SharedBucket | null;
  copies: string;
  signal: AbortSignal;
  opening: AsyncDisposableStack;
}

type Databases = Pick<Manifest, "database" | "apps_database" | "postgres_major">;

async function addAll(config: BackupConfig, sources: Sources): Promise<Databases> {
  const { dataDirectory } = config;
  const { writer, objects, bucket, signal } = sources;
  const databases = await addDatabases(config, sources);
  await addObjects(writer, objects, bucket === null ? [OWNER_BUCKET] : [OWNER_BUCKET, EDGE_FOLDER]);
  for (const name of PLAIN_FOLDERS) await addFolder(writer, dataDirectory, name);
  for (const name of PLAIN_FILES) await addFile(writer, dataDirectory, name);
  if (bucket === null) await addEdge(config, sources);
  else await addSharedBucket({ bucket, writer, signal });
  return databases;
}

/** Adds what one edge has in its folder. */
async function addEdge(config: BackupConfig, { writer, copies, signal }: Sources): Promise<void> {
  const apps = new AppFiles({ writer, workFolder: copies, sqlite: openReader(config, copies), signal });
  const edge = path.join(config.dataDirectory, "edge");
  writer.addFolder("edge", 0o700);
  for (const name of ["scripts", "databases"])
    if (existsSync(path.join(edge, name))) writer.addFolder(`edge/${name}`, 0o700);
  await apps.addScripts("edge/scripts", path.join(edge, "scripts"));
  await apps.addDatabases("edge/databases", path.join(edge, "databases"));
}

function openReader({ sandbox }: BackupConfig, copies: string): SqliteReader {
  return new SqliteReader({ sandbox: openNodeServers({ sandbox }).sandbox, copyRoot: path.join(copies, "reads") });
}

async function addDatabases(
  { dataDirectory, databaseUrl, appsDatabaseUrl }: BackupConfig,
  { writer, opening }: Sources,
): Promise<Databases> {
  let major = 0;
  if (databaseUrl === null) {
    const cluster = await openServiceCluster(dataDirectory, opening);
    major = postgresMajor();
    for (const folder of ["database", "database/data"]) writer.addFolder(folder, 0o700);
    await backUpCluster(writer, "database/data", cluster);
  }
  const apps = appsDatabaseUrl === null ? await openAppsCluster(dataDirectory, opening) : null;
  if (apps !== null) {
    major = postgresMajor();
    for (const folder of ["apps-database", "apps-database/data"]) writer.addFolder(folder, 0o700);
    await backUpCluster(writer, "apps-database/data", apps);
  }
  const appsDatabase = appsDatabaseUrl !== null ? "external" : apps === null ? "absent" : "embedded";
  return {
    database: databaseUrl === null ? "embedded" : "external",
    apps_database: appsDatabase,
    postgres_major: major,
  };
}

/** The major version of the embedded PostgreSQL. Another one cannot read its data. */
export function postgresMajor(): number {
  return Number.parseInt(readPackageVersion(findPostgres()), 10);
}

/** Objects are written once, so all that the rows of the copied database name are there, unless they were removed meanwhile. */
async function addObjects(writer: BackupWriter, objects: ObjectStore, excluded: readonly string[]): Promise<void> {
  for (const bucket of await objects.listBuckets())
    if (!excluded.includes(bucket)) await addBucket(writer, objects, bucket);
}

/**
 * Adds the objects of a bucket. If one was removed since the bucket was listed, another may have replaced it, as with the files of
 * an agent. The bucket is then listed again.
 */
async function addBucket(writer: BackupWriter, objects: ObjectStore, bucket: string): Promise<void> {
  const added = new Set<string>();
  for (let isComplete = false; !isComplete;) {
    isComplete = true;
    for (const { key } of await objects.list(bucket)) {
      if (added.has(key)) continue;
      try {
        await writer.addObject(bucket, key, objects.read(bucket, key));
        added.add(key);
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        isComplete = false;
      }
    }
  }
}

async function addFolder(writer: BackupWriter, dataDirectory: string, name: string): Promise<void> {
  const folder = path.join(dataDirectory, name);
  if (!existsSync(folder)) return;
  writer.addFolder(name, 0o700);
  await writer.addTree(name, folder);
}

async function addFile(writer: BackupWriter, dataDirectory: string, name: string): Promise<void> {
  await using file = await open(path.join(dataDirectory, name), "r").catch(nullIfMissing);
  if (file === null) return;
  await writer.addFile(name, { mode: 0o600, modifiedAt: Math.floor((await file.stat()).mtimeMs), file });
}

function lockForBackup(workFolder: string): { release(): void } {
  try {
    return lockFolder(workFolder);
  } catch (error) {
    if (error instanceof FolderInUse) throw new BackupError("Another backup of this installation is being made.");
    throw error;
  }
}

/** @throws {BackupError} when there is no installation, or it is a restored copy */
async function requireActive(config: BackupConfig, bucket: SharedBucket | null): Promise<Installation> {
  const { dataDirectory, databaseUrl } = config;
  const found = databaseUrl === null ? databaseFolder(dataDirectory) : path.join(dataDirectory, "edge");
  if (bucket === null && !existsSync(found))
    throw new BackupError(`${dataDirectory} (DATA_DIR) has no installation of the service.`);
  const installation = await (bucket === null ? identifyInstallation(dataDirectory) : readInstallationOfEdges(config));
  if (installation.state === "active") return installation;
  throw new BackupError(`${dataDirectory} is a restored copy. Run npm run admin -- restore --take-over before.`);
}

/** Sorted by time: 20261127T153000Z-1f2e3d. */
function newId(): string {
  return `${new Date().toISOString().replace(/[-:]|[.]\d+/g, "")}-${randomBytes(3).toString("hex")}`;
}

/** Tells two secrets apart without telling either. */
export function checkOf(tokenSecret: string): string {
  return sha256Hex(new Uint8Array(hkdfSync("sha256", tokenSecret, "", "backup check", 32))).slice(0, 16);
}
