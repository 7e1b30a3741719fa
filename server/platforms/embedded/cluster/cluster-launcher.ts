import { spawn } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { mkdir, open, rm, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import type { ControlGroups } from "../../../sandbox/cgroups/control-groups.ts";
import { LAUNCH_SCRIPT, type LaunchedProcess, ProcessLauncher } from "../../../sandbox/process-launcher.ts";
import type { AppProcess } from "../app-process.ts";
import { RecordReader } from "../workerd/record-reader.ts";
import { withTail, WORKERD_LIMITS, type WorkerdLaunch, type WorkerLauncher } from "../workerd/workerd-launcher.ts";
import { WorkerdOutput } from "../workerd/workerd-output.ts";
import { usesStorage } from "../../shared/worker-bindings.ts";
import type { BucketForwarder, BucketGrant } from "./bucket-forwarder.ts";
import { findClusterBinary } from "./cluster-binary.ts";
import { ClusterProcess, type SpawnedWorkerd } from "./cluster-process.ts";
import { dataPrefix } from "./bucket-layout.ts";
import { untilLostLeasesEnd } from "./lost-members.ts";
import type { SharedBucket } from "./shared-bucket.ts";
import { MINIFLARE_WORKERS } from "./storage-services.ts";
import { workerdConfig } from "./workerd-config.ts";

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
    const process = await ClusterProcess.untilReady(spawned, {
      ...{ launched, output, records, signal },
      resources: starting.move(),
      timeoutMs: startTimeoutMs * (launch.patience ?? 1),
    });
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
  ): Promise<string> {
    const { host, timeDivisor, secret } = this.#options;
    const storage = path.join(folder, "storage");
    const imports = path.join(folder, "imports");
    const { endpoint, bucketName, accessKeyId, secretAccessKey } = grant;
    const { text, files } = await workerdConfig({
      workers: withTail(launch, mark),
      storage,
      cluster: {
        bucket: `s3://${bucketName}/${dataPrefix(launch.databaseId).replace(/\/$/, "")}`,
        ...{ endpoint, accessKeyId, secretAccessKey, host, timeDivisor },
        key: createHmac("sha256", secret).update(`cluster of ${launch.databaseId}`).digest("hex"),
      },
    });
    await mkdir(storage, { recursive: true, mode: 0o700 });
    await mkdir(imports, { mode: 0o755 });
    for (const [name, contents] of files.entries()) await writeFile(path.join(imports, String(name)), contents);
    return text;
  }

  #prepare(folder: string, { assetsDirectory }: WorkerdLaunch): Promise<LaunchedProcess> {
    return this.#processes.prepare({
      folder,
      binaryPath: findClusterBinary(),
      env: { TZ: "UTC" },
      writableFolders: [path.join(folder, "storage")],
      readOnlyFolders: [
        path.join(folder, "imports"),
        MINIFLARE_WORKERS,
        ...(assetsDirectory === null ? [] : [assetsDirectory]),
      ],
      limits: WORKERD_LIMITS,
    });
  }
}

async function spawnWorkerd(launched: LaunchedProcess, folder: string, config: string): Promise<SpawnedWorkerd> {
  // The configuration contains secrets of the app. Only we can enter its folder, and it has no name any more when the process, which
  // has another user id, reads it.
  const name = path.join(folder, "config");
  await writeFile(name, config, { mode: 0o644 });
  await using file = await open(name);
  await unlink(name);
  const args = [
    "serve",
    "--experimental",
    "-I",
    path.join(folder, "imports"),
    "-I",
    MINIFLARE_WORKERS,
    "--control-fd=3",
    "/dev/stdin",
    "config",
  ];
  const child = spawn(LAUNCH_SCRIPT, args, {
    env: launched.environment,
    stdio: [file.fd, "pipe", "pipe", "pipe"],
  });
  const exited = Promise.withResolvers<void>();
  child.once("error", () => exited.resolve());
  child.once("close", () => exited.resolve());
  const [, stdout, stderr, control] = child.stdio as unknown as [null, Readable, Readable, Readable];
  return { stdout, stderr, control, exited: exited.promise };
}
