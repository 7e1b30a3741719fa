import path from "node:path";
import type { ObjectStore } from "../../domain/ports/object-store.ts";
import { inParallel } from "../../domain/shared/in-parallel.ts";
import { openFilesystemStore, openS3Store } from "../composition/object-store.ts";
import type { Config } from "../config.ts";
import { lockFolder } from "../files/folder-lock.ts";
import { readInstallation } from "../installation/installation.ts";
import { OWNER_BUCKET, ownerOfObjects } from "../installation/object-owner.ts";
import { readOwner } from "../installation/ownership.ts";
import { EDGE_FOLDER } from "../platforms/embedded/cluster/bucket-layout.ts";
import { UsageError } from "./options.ts";

/** Objects that are copied at the same time. */
const CONCURRENCY = 16;

export interface MovedObjects {
  /** Buckets and objects that the target has now. */
  buckets: number;
  objects: number;
  bytes: number;
}

/** What several edges have in the bucket, and the name of its owner. Both stay where they are. */
const KEPT: ReadonlySet<string> = new Set([EDGE_FOLDER, OWNER_BUCKET]);

/**
 * Copies all objects between the data folder and the S3 object store, while the service is stopped. Objects of the target that
 * the source does not have are removed if the target is this installation's, as after an earlier copy. The data of several edges
 * stays. The source keeps its objects. May be repeated.
 *
 * @param to - where the objects are afterwards
 * @throws {UsageError} for another target, or without an S3 object store
 * @throws {ConfigError} for an S3 object store of another installation, or of a copy that has taken over
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
    if (to === "filesystem") return await copyAll(remote, files, { removesOthers: true });
    const own = (await readInstallation(dataDirectory)) ?? { id: "", epoch: 0 };
    const owner = await readOwner(ownerOfObjects(remote), own);
    // Without an owner, the folders could be those of another program.
    return await copyAll(files, remote, { removesOthers: owner !== null });
  } finally {
    lock.release();
  }
}

async function copyAll(
  source: ObjectStore,
  target: ObjectStore,
  { removesOthers }: { removesOthers: boolean },
): Promise<MovedObjects> {
  const buckets = await movableBuckets(source);
  const others = removesOthers ? (await movableBuckets(target)).filter((bucket) => !buckets.includes(bucket)) : [];
  for (const other of others) await target.removeBucket(other);
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

async function movableBuckets(store: ObjectStore): Promise<string[]> {
  return (await store.listBuckets()).filter((bucket) => !KEPT.has(bucket));
}

async function removeOthers(target: ObjectStore, bucket: string, keys: ReadonlySet<string>): Promise<void> {
  for (const { key } of await target.list(bucket)) if (!keys.has(key)) await target.remove(bucket, key);
}
