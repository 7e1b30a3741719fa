import path from "node:path";
import type { ObjectStore } from "../../domain/ports/object-store.ts";
import { inParallel } from "../../domain/shared/in-parallel.ts";
import { openFilesystemStore, openS3Store } from "../composition/object-store.ts";
import type { Config } from "../config.ts";
import { lockFolder } from "../files/folder-lock.ts";
import { UsageError } from "./options.ts";

/** Objects that are copied at the same time. */
const CONCURRENCY = 16;

export interface MovedObjects {
  /** Buckets and objects that the target has now. */
  buckets: number;
  objects: number;
  bytes: number;
}

/**
 * Copies all objects between the data folder and the S3 object store, while the service is stopped. Objects of the target that
 * the source does not have are removed, as after an earlier copy. The source keeps its objects. May be repeated.
 *
 * @param to - where the objects are afterwards
 * @throws {UsageError} for another target, or without an S3 object store
 * @throws {FolderInUse} while the service runs
 */
export async function moveObjects(
  { dataDirectory, s3 }: Pick<Config, "dataDirectory" | "s3">,
  to: string | undefined,
): Promise<MovedObjects> {
  if (to !== "s3" && to !== "filesystem") throw new UsageError("--to must be one of: s3, filesystem");
  if (s3 === null) throw new UsageError("Set OBJECT_STORE=s3 and the S3_ variables, also to move objects out of it.");
  const lock = lockFolder(path.join(dataDirectory, "edge"));
  try {
    const files = openFilesystemStore(dataDirectory);
    using remote = await openS3Store(s3);
    return to === "s3" ? await copyAll(files, remote) : await copyAll(remote, files);
  } finally {
    lock.release();
  }
}

async function copyAll(source: ObjectStore, target: ObjectStore): Promise<MovedObjects> {
  const buckets = await source.listBuckets();
  for (const other of await target.listBuckets()) if (!buckets.includes(other)) await target.removeBucket(other);
  const moved = { buckets: buckets.length, objects: 0, bytes: 0 };
  for (const bucket of buckets) {
    const objects = await source.list(bucket);
    await inParallel(objects, CONCURRENCY, ({ key }) => target.put(bucket, key, source.read(bucket, key)));
    await removeOthers(target, bucket, new Set(objects.map(({ key }) => key)));
    moved.objects += objects.length;
    moved.bytes += objects.reduce((sum, { size }) => sum + size, 0);
  }
  return moved;
}

async function removeOthers(target: ObjectStore, bucket: string, keys: ReadonlySet<string>): Promise<void> {
  for (const { key } of await target.list(bucket)) if (!keys.has(key)) await target.remove(bucket, key);
}
