import { createHash } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { ArchiveContents, ArchiveSource } from "../ports/archive-source.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Spool, SpoolFile } from "../ports/spool.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { FairQueue } from "../shared/fair-queue.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { ARCHIVE_LIMITS } from "./archive-limits.ts";
import { ARCHIVE_BUCKET, newArchiveKey } from "./archive-objects.ts";
import { Archive } from "./archive.entity.ts";
import { removeUnusedArchives } from "./remove-unused-archives.ts";

export interface UploadArchiveDeps {
  em: EntityManager;
  db: Db;
  spool: Spool;
  objects: ObjectStore;
  archiveSource: ArchiveSource;
  /** Limits how many archives arrive at the same time. */
  archiveUploads: FairQueue;
  /** Limits how many archives are inspected at the same time. */
  archiveChecks: FairQueue;
}

/** An archive, the same in every API. */
export interface ArchiveView {
  /** The SHA-256 of its bytes. The same bytes always have the same id. */
  id: string;
  /** Of the archive itself, in bytes. */
  size: number;
  file_count: number;
  /** Of all its files, in bytes. */
  unpacked_size: number;
}

const MEBIBYTE = 1024 * 1024;
/** An archive that was used in the last minutes may be about to be deployed. */
const JUST_USED_MS = 600_000;

/**
 * Stores an archive with the source code of an app. The whole archive is read and checked before it is stored; a call that fails, and a
 * crash, store nothing. The same bytes are stored once for each organization, so a call can be repeated.
 *
 * @throws {ServiceError} `invalid` for a file that cannot be unpacked; `plan_limit` when the organization stores too much; `unavailable`
 *   while too many archives arrive or wait
 */
export async function uploadArchive(
  deps: UploadArchiveDeps,
  caller: Caller,
  { file }: { file: AsyncIterable<Uint8Array> },
): Promise<ArchiveView> {
  await using upload = await deps.spool.open();
  // Before its turn to be inspected, so that an archive that arrives slowly delays no other one.
  const received = await deps.archiveUploads.run(caller.orgId, () => receive(file, upload));
  return await storeReceived(deps, caller, { ...received, upload, field: "archive" });
}

/**
 * Stores texts as an archive.
 *
 * @param files - each text by its path
 * @throws {ServiceError} as `uploadArchive` does
 */
export async function storeFiles(
  deps: UploadArchiveDeps,
  caller: Caller,
  files: Readonly<Record<string, string>>,
): Promise<ArchiveView> {
  checkInlineFiles(files);
  await using upload = await deps.spool.open();
  const received = await receive(deps.archiveSource.pack(files), upload);
  return await storeReceived(deps, caller, { ...received, upload, field: "files" });
}

/** @throws {ServiceError} `invalid` for too many or too large files */
function checkInlineFiles(files: Readonly<Record<string, string>>): void {
  const entries = Object.entries(files);
  const bytes = entries.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
  const { inlineFiles, inlineBytes, inlinePathLength } = ARCHIVE_LIMITS;
  const problem =
    entries.length === 0
      ? "must contain at least one file"
      : entries.length > inlineFiles
        ? `must contain at most ${inlineFiles} files`
        : bytes > inlineBytes
          ? `must have at most ${inlineBytes / MEBIBYTE} MiB in total`
          : entries.some(([path]) => path === "" || path.length > inlinePathLength)
            ? `must have paths of 1 to ${inlinePathLength} characters`
            : null;
  if (problem === null) return;
  throw new ServiceError("invalid", `files: ${problem}. Upload larger apps with POST /v1/archives.`);
}

interface Received {
  id: string;
  size: number;
}

async function receive(chunks: AsyncIterable<Uint8Array>, upload: SpoolFile): Promise<Received> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    size += chunk.length;
    await upload.append(chunk);
  }
  return { id: hash.digest("hex"), size };
}

async function storeReceived(
  deps: UploadArchiveDeps,
  caller: Caller,
  { id, size, upload, field }: Received & { upload: SpoolFile; field: string },
): Promise<ArchiveView> {
  const { orgId } = caller;
  const existing = await inArchives(deps, orgId, (em) => touch(em, { orgId, id }));
  if (existing !== null) return toView(existing);
  const contents = await deps.archiveChecks.run(orgId, () => deps.archiveSource.inspect(upload.read()));
  if ("problem" in contents) throw new ServiceError("invalid", `${field}: ${contents.problem}`);
  await makeRoom(deps, orgId, size);
  const objectKey = newArchiveKey(orgId);
  // Before the record, so that each record has its object. The sweep removes the object if a crash prevents the record.
  await deps.objects.put(ARCHIVE_BUCKET, objectKey, upload.read());
  try {
    const archive = await record(deps, caller, { id, size, objectKey, contents });
    if (archive.objectKey !== objectKey) await deps.objects.remove(ARCHIVE_BUCKET, objectKey);
    return toView(archive);
  } catch (error) {
    if (error instanceof ServiceError) await deps.objects.remove(ARCHIVE_BUCKET, objectKey);
    throw error;
  }
}

/** Before the archive is stored, so that an upload beyond the limit writes nothing. */
async function makeRoom(deps: UploadArchiveDeps, orgId: string, size: number): Promise<void> {
  const fits = async () => (await storedBytes(deps.db, orgId)) + size <= ARCHIVE_LIMITS.organizationBytes;
  if (await fits()) return;
  await removeUnusedArchives(deps, { orgId, unusedMs: JUST_USED_MS });
}

function record(
  deps: UploadArchiveDeps,
  { orgId, userId: createdBy }: Caller,
  { contents, ...stored }: Received & { objectKey: string; contents: ArchiveContents },
): Promise<Archive> {
  return inArchives(deps, orgId, async (em) => {
    // A parallel upload of the same bytes.
    const existing = await touch(em, { orgId, id: stored.id });
    if (existing !== null) return existing;
    checkRoom(await storedBytes(queryBuilderOf(em), orgId), stored.size);
    const { fileCount, bytes: unpackedSize } = contents;
    return em.create(Archive, { ...stored, orgId, createdBy, fileCount, unpackedSize });
  });
}

function checkRoom(used: number, size: number): void {
  const { organizationBytes, unusedHours } = ARCHIVE_LIMITS;
  if (used + size <= organizationBytes) return;
  const [limit, usedMib, sizeMib] = [organizationBytes, used, size].map((bytes) => Math.ceil(bytes / MEBIBYTE));
  throw new ServiceError(
    "plan_limit",
    `An organization stores at most ${limit} MiB of archives. ${usedMib} MiB are used, and this one has ${sizeMib} MiB. Delete apps, or wait: what no app needs is removed ${unusedHours} hours after its last use.`,
  );
}

async function storedBytes(db: Db, orgId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom("archives")
    .select(({ fn }) => fn.sum<string | null>("size").as("bytes"))
    .where("org_id", "=", orgId)
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

/** Runs `work` while no other transaction adds archives of the organization. */
function inArchives<T>({ em }: { em: EntityManager }, orgId: string, work: (em: SqlEntityManager) => Promise<T>) {
  return inLockedTransaction(em, [`archives:${orgId}`], work);
}

/** Delays the removal of an archive; `null` if the organization has no such archive. */
async function touch(em: EntityManager, key: { orgId: string; id: string }): Promise<Archive | null> {
  if ((await em.nativeUpdate(Archive, key, { lastUsedAt: new Date() })) === 0) return null;
  return em.findOneOrFail(Archive, key);
}

function toView({ id, size, fileCount: file_count, unpackedSize: unpacked_size }: Archive): ArchiveView {
  return { id, size, file_count, unpacked_size };
}

/**
 * Delays the removal of an archive that a deployment will need, in the transaction of `em`.
 *
 * @throws {ServiceError} `invalid` when the organization has no such archive
 */
export async function useArchive(em: EntityManager, key: { orgId: string; id: string }): Promise<void> {
  if ((await touch(em, key)) !== null) return;
  throw new ServiceError(
    "invalid",
    `archive: the organization has no archive ${key.id}. Upload it with POST /v1/archives; what no app needs is removed after ${ARCHIVE_LIMITS.unusedHours} hours.`,
  );
}
