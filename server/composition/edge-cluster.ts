import { createHmac, randomUUID } from "node:crypto";
import { z } from "zod";
import { parseJson } from "../../domain/shared/json.ts";
import { SnapshotArchiver } from "../app-files/snapshot-archiver.ts";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { readInstallation, writeInstallation } from "../installation/installation.ts";
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

/** Below the prefix of the bucket. */
const INSTALLATION_KEY = "edge/installation.json";
/** A renewal must not wait longer than the lease is valid. */
const LEASE_REQUESTS = { connectTimeoutMs: 2_000, idleTimeoutMs: 3_000, attempts: 2 };
const installationSchema = z.object({ id: z.string(), epoch: z.int() });

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
  const { edgeCluster, s3, dataDirectory, sandbox } = config;
  const host = edgeCluster?.host ?? null;
  if (host === null || s3 === null)
    throw new ConfigError("EDGE_CLUSTER=on needs OBJECT_STORE=s3 and EDGE_CLUSTER_HOST");
  const bucket = opening.use(new SharedBucket(s3));
  await bucket.checkConditionalWrites().catch((cause: unknown) => {
    throw new ConfigError(`EDGE_CLUSTER=on cannot use this object store: ${(cause as Error).message}`, { cause });
  });
  const leaseBucket = opening.use(new SharedBucket(s3, LEASE_REQUESTS));
  const forwarder = opening.use(await BucketForwarder.listen(bucket, log));
  await joinInstallation(bucket, dataDirectory);
  return clusterStores({
    ...{ bucket, leaseBucket, forwarder, sandbox, host },
    createArchiver: (options) => new SnapshotArchiver(options),
    groups: controlGroups,
    startTimeoutMs: LAUNCHER_LIMITS.startTimeoutMs,
    secret: createHmac("sha256", tokenSecret).update("edge-cluster").digest("hex"),
  });
}

/** All edges are the same installation, whichever starts first. */
async function joinInstallation(bucket: SharedBucket, dataDirectory: string): Promise<void> {
  const own = await readInstallation(dataDirectory);
  const { id, epoch } = own ?? { id: randomUUID(), epoch: 1 };
  await bucket.write(INSTALLATION_KEY, Buffer.from(JSON.stringify({ id, epoch })), { ifNoneMatch: "*" });
  const found = await bucket.read(INSTALLATION_KEY);
  const shared = installationSchema.parse(parseJson(found?.bytes.toString("utf8") ?? ""));
  if (own === null) return writeInstallation(dataDirectory, { ...shared, state: "active" });
  if (own.id !== shared.id)
    throw new ConfigError("S3_PREFIX: the objects belong to another installation. Set S3_PREFIX to another folder.");
}
