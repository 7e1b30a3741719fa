import { SnapshotArchiver } from "../../../server/app-files/snapshot-archiver.ts";
import { clusterStores } from "../../../server/platforms/embedded/cluster/cluster-stores.ts";
import type { S3Settings } from "../../../server/drivers/object-store/s3.ts";
import { BucketForwarder } from "../../../server/platforms/embedded/cluster/bucket-forwarder.ts";
import { SharedBucket } from "../../../server/platforms/embedded/cluster/shared-bucket.ts";
import type { EmbeddedPlatformOptions } from "../../../server/platforms/embedded/open-embedded-platform.ts";
import { type DiskS3, startDiskS3 } from "../object-store/disk-s3.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { openTestPlatform, type TestPlatform } from "./test-platform.ts";

/** The bucket of a cluster of edges, in which each edge is opened. */
export interface TestCluster extends AsyncDisposable {
  /** The object store. */
  server: DiskS3;
  bucket: SharedBucket;
  /**
   * Opens another edge, which ends with the cluster at the latest.
   *
   * @param bucket - by default that of the cluster
   */
  openEdge(options?: Partial<EmbeddedPlatformOptions>, bucket?: SharedBucket): Promise<TestPlatform>;
}

/** The times of the engine are this many times shorter: a lease has 5 s instead of 20 s. */
const TIME_DIVISOR = 4;
/** In milliseconds. Shorter than in production. */
const LEASE_TIMES = { renewMs: 500, killMs: 3_000, validMs: 4_500, snapshotMs: 1_500 };

export async function openTestCluster(): Promise<TestCluster> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const server = opening.use(await startDiskS3(folder.path));
  const bucket = opening.use(openTestBucket(server.settings));
  const edges = opening.use(new AsyncDisposableStack());
  const resources = opening.move();
  return {
    server,
    bucket,
    async openEdge(options = {}, own = bucket) {
      return edges.use(await openClusterEdge(own, options));
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** The bucket of a test cluster. */
export function openTestBucket(settings: S3Settings): SharedBucket {
  return new SharedBucket({ ...settings, prefix: "production/" });
}

/** Opens an edge of the cluster that a bucket belongs to. */
export async function openClusterEdge(
  bucket: SharedBucket,
  options: Partial<EmbeddedPlatformOptions> = {},
): Promise<TestPlatform> {
  await using opening = new AsyncDisposableStack();
  const forwarder = opening.use(await BucketForwarder.listen(bucket, { warn() {} }));
  const createStores = clusterStores({
    bucket,
    leaseBucket: bucket,
    createArchiver: (folders) => new SnapshotArchiver(folders),
    leaseTimes: LEASE_TIMES,
    forwarder,
    sandbox: "bubblewrap",
    startLimitMs: 10_000,
    secret: "secret of the tests",
    host: "127.0.0.1",
    timeDivisor: TIME_DIVISOR,
  });
  const edge = opening.use(await openTestPlatform({ createStores, ...options }));
  const opened = opening.move();
  return { ...edge, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
