import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import type * as miniflareLibrary from "miniflare";
import type { ControlGroups } from "../../../sandbox/cgroups/control-groups.ts";
import { type LaunchedProcess, ProcessLauncher } from "../../../sandbox/process-launcher.ts";
import { loadMiniflare, sandboxMiniflare, withoutSignalHandlers, workerd } from "./miniflare-environment.ts";
import type { AppProcess } from "../app-process.ts";
import type { RecordSink } from "../runtime-logs/record-sink.ts";
import { RecordReader } from "./record-reader.ts";
import { TAIL_WORKER_NAME, tailWorker } from "./tail-worker.ts";
import { usesStorage } from "../../shared/worker-bindings.ts";
import type { MiniflareWorkerOptions } from "./worker-options.ts";
import { WorkerdOutput } from "./workerd-output.ts";
import { ProcessExit, type StartedWorkerd, stopWorkerd, WorkerdProcess } from "./workerd-process.ts";
import { untilReady } from "./workerd-readiness.ts";

export interface LauncherOptions {
  /** A folder for files that exist only as long as a process. `open` empties it. */
  launchRoot: string;
  /** `none` only by explicit choice: apps then run as the user of the service and can access all its files. */
  sandbox: "bubblewrap" | "none";
  /** The groups through which the kernel limits processes. */
  groups?: ControlGroups | undefined;
  startTimeoutMs: number;
}

export interface WorkerdLaunch extends AppFolders {
  worker: MiniflareWorkerOptions;
  /** Of the app whose data the process has; absent for a process with storage of its own. */
  databaseId?: string;
  /** The texts that messages from the process must not contain: the secrets of the app. */
  masks?: readonly string[];
  /** Receives each message and each uncaught exception of the worker. Without it, they are not collected. */
  records?: RecordSink | undefined;
  /** Limits the memory of the process, except mapped files. */
  dataBytes?: number;
  /** How many times as long as usual the process may take to start. */
  patience?: number | undefined;
}

/** The limits of a process that runs an app. */
export const WORKERD_LIMITS = {
  /** A hard limit behind the lower limit of the watchdog. V8 reserves about 500 MB of it without using them. */
  dataBytes: 1_600_000 * 1024,
  /** All memory of a process, with shared memory and the page cache. Also above the limit of the watchdog. */
  memoryMb: 1024,
  /** The largest database or object, as on the production platform. */
  fileSizeMb: 10 * 1024,
  openFiles: 4096,
  processes: 256,
} as const;

/** Miniflare can miss the exit of a process that never read its configuration, such as a sandbox that fails. */
const MISSED_EXIT_MS = 1_000;

/** Starts the processes of Workers. */
export interface WorkerLauncher {
  start(launch: WorkerdLaunch, signal: AbortSignal): Promise<AppProcess & { port: number }>;
}

/** Starts workerd processes. Each has its own sandbox that contains only its folders. */
export class WorkerdLauncher implements WorkerLauncher {
  readonly #options: LauncherOptions;
  readonly #processes: ProcessLauncher;

  constructor(options: LauncherOptions) {
    this.#options = options;
    this.#processes = new ProcessLauncher(options.sandbox, options.groups);
    sandboxMiniflare();
  }

  /** Removes the files of earlier processes, which died with the service that started them. */
  async open(): Promise<void> {
    await rm(this.#options.launchRoot, { recursive: true, force: true });
    await mkdir(this.#options.launchRoot, { recursive: true, mode: 0o700 });
  }

  /**
   * Starts a process and waits until it listens. Running processes must not have a folder in common, because workerd
   * does not lock its storage.
   *
   * @throws {UnhealthyScript} when the script prevents the start, or is not ready in time
   */
  async start(launch: WorkerdLaunch, signal: AbortSignal): Promise<WorkerdProcess> {
    signal.throwIfAborted();
    const folders = await createWorkerdFolders(this.#options.launchRoot, launch, usesStorage(launch.worker));
    const launched = await this.#prepare(folders, launch.dataBytes ?? WORKERD_LIMITS.dataBytes).catch(
      async (error: unknown) => {
        await rm(folders.launch, { recursive: true });
        throw error;
      },
    );
    // A new mark for each process, because nothing of an app may imitate what its tail worker prints.
    const mark = randomUUID();
    const records = launch.records === undefined ? null : new RecordReader(mark, launch.records);
    const output = new WorkerdOutput({ records, masks: launch.masks });
    const exit = new ProcessExit();
    const started: StartedWorkerd = { miniflare: null, launched, exit, launchFolder: folders.launch };
    try {
      const miniflare = createMiniflare(loadMiniflare(), withTail(launch, mark), folders, launched, { output, exit });
      started.miniflare = miniflare;
      await untilReady(
        { ready: miniflare.ready, output, exited: exit.promise, exitGraceMs: MISSED_EXIT_MS },
        this.#options.startTimeoutMs * (launch.patience ?? 1),
        signal,
      );
      records?.reportUnconfirmed();
      void exit.promise.then(() => records?.reportUnconfirmed());
      const { port } = await miniflare.unsafeGetDirectURL(launch.worker.name);
      return new WorkerdProcess(started, output, Number(port));
    } catch (error) {
      records?.reportUnconfirmed();
      await stopWorkerd(started);
      throw error;
    }
  }

  #prepare({ launch, writable, assets }: WorkerdFolders, dataBytes: number): Promise<LaunchedProcess> {
    return this.#processes.prepare({
      folder: launch,
      binaryPath: workerd.default,
      env: { TZ: "UTC" },
      writableFolders: writable,
      readOnlyFolders: assets === null ? [] : [assets],
      limits: { ...WORKERD_LIMITS, dataBytes },
    });
  }
}

/** Adds the worker that collects what the worker prints. */
export function withTail(
  { worker, records }: WorkerdLaunch,
  mark: string,
): [MiniflareWorkerOptions, ...MiniflareWorkerOptions[]] {
  if (records === undefined) return [worker];
  return [{ ...worker, streamingTails: [TAIL_WORKER_NAME] }, tailWorker(mark)];
}

function createMiniflare(
  { Log, LogLevel, Miniflare }: typeof miniflareLibrary,
  workers: [MiniflareWorkerOptions, ...MiniflareWorkerOptions[]],
  { storage, database }: WorkerdFolders,
  launched: LaunchedProcess,
  { output, exit }: { output: WorkerdOutput; exit: ProcessExit },
): miniflareLibrary.Miniflare {
  const options = {
    workers,
    host: "127.0.0.1",
    port: 0,
    // Otherwise Miniflare asks its vendor for the location of this machine.
    cf: false,
    log: new Log(LogLevel.NONE),
    logRequests: false,
    structuredWorkerdLogs: true,
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      output.follow(stdout, true);
      output.follow(stderr);
      stdout.once("close", () => exit.mark());
    },
    kvPersist: path.join(storage, "kv"),
    r2Persist: path.join(storage, "r2"),
    durableObjectsPersist: path.join(storage, "do"),
    workflowsPersist: path.join(storage, "workflows"),
    d1Persist: database,
    unsafeRuntimeEnv: { ...launched.environment },
  } as const;
  return withoutSignalHandlers(() => new Miniflare(options));
}

/** The folders of the host that one process can access. */
interface AppFolders {
  /** The app's own storage; `null` for storage that is removed with the process. */
  storageDirectory: string | null;
  /** The app's SQL database; `null` as above. */
  databaseDirectory: string | null;
  /** The app's static files, read-only; `null` if it has none. */
  assetsDirectory: string | null;
}

/** The folders of one process. */
interface WorkerdFolders {
  /** The folder of this launch, to be removed after the process has ended. */
  launch: string;
  storage: string;
  database: string;
  /** Those of storage that the process can write to. A process that uses no storage has none, and they need not exist. */
  writable: readonly string[];
  assets: string | null;
}

/** Each kind of storage has its own folder. Miniflare must not create them, because it is not the user of the sandbox. */
const STORAGE_KINDS = ["kv", "r2", "do", "workflows"];

/**
 * Creates the folders of one process. The folder of the launch is created below `launchRoot`.
 *
 * @param hasStorage - whether the process uses storage
 */
async function createWorkerdFolders(
  launchRoot: string,
  folders: AppFolders,
  hasStorage: boolean,
): Promise<WorkerdFolders> {
  const launch = path.join(launchRoot, randomUUID());
  const storage = folders.storageDirectory ?? path.join(launch, "storage");
  const database = folders.databaseDirectory ?? path.join(launch, "database");
  const stored = hasStorage ? [database, ...STORAGE_KINDS.map((kind) => path.join(storage, kind))] : [];
  for (const folder of [launch, ...stored]) await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    launch,
    storage,
    database,
    writable: hasStorage ? [storage, database] : [],
    assets: folders.assetsDirectory,
  };
}
