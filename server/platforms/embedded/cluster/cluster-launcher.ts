import { createHmac, randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { ControlGroups } from "../../../sandbox/cgroups/control-groups.ts";
import { type LaunchedProcess, ProcessLauncher } from "../../../sandbox/process-launcher.ts";
import type { AppProcess } from "../app-process.ts";
import { RecordReader } from "../workerd/record-reader.ts";
import { withTail, WORKERD_LIMITS, type WorkerdLaunch, type WorkerLauncher } from "../workerd/workerd-launcher.ts";
import { configFolders, spawnWorkerd, writeImports } from "../workerd/spawn-workerd.ts";
import { workerd } from "../workerd/workerd-binary.ts";
import { type WorkerdConfig, workerdConfig } from "../workerd/workerd-config.ts";
import { WorkerdOutput } from "../workerd/workerd-output.ts";
import { untilListening } from "../workerd/workerd-process.ts";
import { usesStorage } from "../../shared/worker-bindings.ts";
import type { BucketForwarder, BucketGrant } from "./bucket-forwarder.ts";
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
  startTimeoutMs: number;
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
    await using starting = new AsyncDisposableStack();
    const folder = path.join(this.#options.launchRoot, randomUUID());
    starting.defer(() => rm(folder, { recursive: true, force: true }));
    const grant = starting.use(this.#options.forwarder.grant(dataPrefix(databaseId)));
    const mark = randomUUID();
    const config = await this.#writeConfig({ ...launch, databaseId }, { folder, grant, mark });
    const launched = starting.adopt(await this.#prepare(folder, launch), (prepared) => prepared.release());
    const records = launch.records === undefined ? null : new RecordReader(mark, launch.records);
    const output = new WorkerdOutput({ records, masks: launch.masks });
    const spawned = await spawnWorkerd(launched, folder, config);
    const { startTimeoutMs } = this.#options;
    const started = await untilListening(spawned, {
      ...{ launched, output, records, signal },
      resources: starting.move(),
      timeoutMs: startTimeoutMs * (launch.patience ?? 1),
    });
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

  async #writeConfig(
    launch: WorkerdLaunch & { databaseId: string },
    { folder, grant, mark }: { folder: string; grant: BucketGrant; mark: string },
  ): Promise<WorkerdConfig> {
    const { host, timeDivisor, secret } = this.#options;
    const storage = path.join(folder, "storage");
    const { endpoint, bucketName, accessKeyId, secretAccessKey } = grant;
    const config = await workerdConfig({
      workers: withTail(launch, mark),
      // The bucket has what is on the disk of a process.
      storage: {
        folders: { durableObjects: storage, sql: storage, keyValue: storage, objects: storage, workflows: storage },
        largeValues: "bucket",
      },
      cluster: {
        bucket: `s3://${bucketName}/${dataPrefix(launch.databaseId).replace(/\/$/, "")}`,
        ...{ endpoint, accessKeyId, secretAccessKey, host, timeDivisor },
        key: createHmac("sha256", secret).update(`cluster of ${launch.databaseId}`).digest("hex"),
      },
    });
    await mkdir(storage, { recursive: true, mode: 0o700 });
    await writeImports(folder, config);
    return config;
  }

  #prepare(folder: string, { assetsDirectory }: WorkerdLaunch): Promise<LaunchedProcess> {
    return this.#processes.prepare({
      folder,
      binaryPath: workerd.default,
      env: { TZ: "UTC" },
      writableFolders: [path.join(folder, "storage")],
      readOnlyFolders: [...configFolders(folder), ...(assetsDirectory === null ? [] : [assetsDirectory])],
      limits: WORKERD_LIMITS,
    });
  }
}
