import { createHmac } from "node:crypto";
import { SnapshotArchiver } from "../app-files/snapshot-archiver.ts";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { RESTORE_KEY } from "../platforms/embedded/cluster/bucket-layout.ts";
import { BucketForwarder } from "../platforms/embedded/cluster/bucket-forwarder.ts";
import { clusterStores } from "../platforms/embedded/cluster/cluster-stores.ts";
import { SharedBucket } from "../platforms/embedded/cluster/shared-bucket.ts";
import type { CreateStores } from "../platforms/embedded/edge-stores.ts";
import { LAUNCHER_LIMITS } from "../platforms/embedded/launchers.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { ControlGroups } from "../sandbox/cgroups/control-groups.ts";

interface ClusterDeps {
  controlGroups: ControlGroups;
  tokenSecret: string;
  log: Logger;
}

/** A renewal must not wait longer than the lease is valid. */
const LEASE_REQUESTS = { connectTimeoutMs: 2_000, idleTimeoutMs: 3_000, attempts: 2 };

/**
 * Opens what an edge shares with the others.
 *
 * @throws {ConfigError} when the object store cannot be shared
 */
export async function openClusterEdge(
  config: Config,
  { controlGroups, tokenSecret, log }: ClusterDeps,
  opening: AsyncDisposableStack,
): Promise<CreateStores> {
  const { edgeCluster, s3, sandbox } = config;
  const host = edgeCluster?.host ?? null;
  if (host === null || s3 === null)
    throw new ConfigError("EDGE_CLUSTER=on needs OBJECT_STORE=s3 and EDGE_CLUSTER_HOST");
  const bucket = opening.use(new SharedBucket(s3));
  await bucket.checkConditionalWrites().catch((cause: unknown) => {
    throw new ConfigError(`EDGE_CLUSTER=on cannot use this object store: ${(cause as Error).message}`, { cause });
  });
  if ((await bucket.read(RESTORE_KEY)) !== null)
    throw new ConfigError("S3_PREFIX: the restore of the objects has not finished. Repeat it.");
  const leaseBucket = opening.use(new SharedBucket(s3, LEASE_REQUESTS));
  const forwarder = opening.use(await BucketForwarder.listen(bucket, log));
  return clusterStores({
    ...{ bucket, leaseBucket, forwarder, sandbox, host },
    createArchiver: (options) => new SnapshotArchiver(options),
    groups: controlGroups,
    startLimitMs: LAUNCHER_LIMITS.startLimitMs,
    secret: createHmac("sha256", tokenSecret).update("edge-cluster").digest("hex"),
  });
}
