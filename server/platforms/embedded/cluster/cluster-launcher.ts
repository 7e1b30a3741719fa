import { createHmac } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { ControlGroups } from "../../../sandbox/cgroups/control-groups.ts";
import { ProcessLauncher } from "../../../sandbox/process-launcher.ts";
import type { AppProcess } from "../app-process.ts";
import {
  startWorkerd,
  type WorkerdLaunch,
  type WorkerdSetup,
  type WorkerLauncher,
} from "../workerd/workerd-launcher.ts";
import { usesStorage } from "../../shared/worker-bindings.ts";
import type { BucketForwarder } from "./bucket-forwarder.ts";
import { ClusterProcess } from "./cluster-process.ts";
import { dataPrefix } from "./bucket-layout.ts";
import { untilLostLeasesEnd } from "./lost-members.ts";
import type { SharedBucket } from "./shared-bucket.ts";

export interface ClusterLauncherOptions {
  /** For workers without data that lasts. */
  launcher: WorkerLauncher;
  /** A folder for files that exist only as long as a process. */
  launchRoot: string;
  sandbox: "bubblewrap" | "none";
  groups?: ControlGroups | undefined;
  startLimitMs: number;
  bucket: SharedBucket;
  forwarder: BucketForwarder;
  /** The key of the cluster of an app derives from it. */
  secret: string;
  /** The private address under which the other edges reach the processes of this machine. */
  host: string;
  /** For tests: divides the times of the engine's leases. */
  timeDivisor?: number | undefined;
}

/**
 * Starts workerd as a member of the cluster of an app: all processes of the app, on all edges, have the same data, which is in the
 * bucket. A worker that stores nothing, or only temporarily, needs no cluster.
 */
export class ClusterLauncher implements WorkerLauncher {
  readonly #options: ClusterLauncherOptions;
  readonly #processes: ProcessLauncher;
  readonly #running = new Set<ClusterProcess>();

  constructor(options: ClusterLauncherOptions) {
    this.#options = options;
    this.#processes = new ProcessLauncher(options.sandbox, options.groups);
  }

  /** As `WorkerdLauncher.start`. Any number of processes can have the same data. Waits for the end of the leases of killed ones. */
  async start(launch: WorkerdLaunch, signal: AbortSignal): Promise<AppProcess & { port: number }> {
    const { databaseId } = launch;
    if (databaseId === undefined || !usesStorage(launch.worker)) return this.#options.launcher.start(launch, signal);
    signal.throwIfAborted();
    await untilLostLeasesEnd(this.#options.bucket, databaseId, signal);
    const setUp = (folder: string, resources: AsyncDisposableStack) => this.#setUp(databaseId, folder, resources);
    const started = await startWorkerd(this.#processes, launch, { ...this.#options, setUp, signal });
    const process = new ClusterProcess(started);
    this.#running.add(process);
    void process.exited.then(() => this.#running.delete(process));
    return process;
  }

  /** Waits until all processes have handed over what they have, and have ended. */
  async close(): Promise<void> {
    const running = [...this.#running];
    await Promise.all(running.map((process) => process.shutDown()));
    await Promise.all(running.map((process) => process.ended()));
  }

  async #setUp(databaseId: string, folder: string, resources: AsyncDisposableStack): Promise<WorkerdSetup> {
    const { forwarder, host, timeDivisor, secret } = this.#options;
    const prefix = dataPrefix(databaseId);
    const { endpoint, bucketName, accessKeyId, secretAccessKey } = resources.use(forwarder.grant(prefix));
    // The bucket has what is on the disk of a process.
    const storage = path.join(folder, "storage");
    await mkdir(storage, { recursive: true, mode: 0o700 });
    return {
      storage: {
        folders: { durableObjects: storage, sql: storage, keyValue: storage, objects: storage, workflows: storage },
        largeValues: "bucket",
      },
      cluster: {
        bucket: `s3://${bucketName}/${prefix.replace(/\/$/, "")}`,
        ...{ endpoint, accessKeyId, secretAccessKey, host, timeDivisor },
        key: createHmac("sha256", secret).update(`cluster of ${databaseId}`).digest("hex"),
      },
      writableFolders: [storage],
    };
  }
}
