import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { ControlGroups } from "../../../sandbox/cgroups/control-groups.ts";
import { ProcessLauncher } from "../../../sandbox/process-launcher.ts";
import type { AppProcess } from "../app-process.ts";
import type { RecordSink } from "../runtime-logs/record-sink.ts";
import { RecordReader } from "./record-reader.ts";
import { TAIL_WORKER_NAME, tailWorker } from "./tail-worker.ts";
import { usesStorage } from "../../shared/worker-bindings.ts";
import type { WorkerOptions } from "./worker-options.ts";
import { configFolders, spawnWorkerd, writeImports } from "./spawn-workerd.ts";
import { STORAGE_FOLDERS, type StorageFolders } from "./storage-services.ts";
import { workerd } from "./workerd-binary.ts";
import { workerdConfig, type WorkerdConfigOptions } from "./workerd-config.ts";
import { WorkerdOutput } from "./workerd-output.ts";
import { type StartedWorkerd, untilListening, WorkerdProcess } from "./workerd-process.ts";

export interface LauncherOptions {
  /** A folder for files that exist only as long as a process. `open` empties it. */
  launchRoot: string;
  /** `none` only by explicit choice: apps then run as the user of the service and can access all its files. */
  sandbox: "bubblewrap" | "none";
  /** The groups through which the kernel limits processes. */
  groups?: ControlGroups | undefined;
  /** Of the CPU time that a start may use. A start that waits has six times as long. */
  startLimitMs: number;
}

export interface WorkerdLaunch extends AppFolders {
  worker: WorkerOptions;
  /** Of the app whose data the process has; absent for a process with storage of its own. */
  databaseId?: string;
  /** The texts that messages from the process must not contain: the secrets of the app. */
  masks?: readonly string[];
  /** Receives each message and each uncaught exception of the worker. Without it, they are not collected. */
  records?: RecordSink | undefined;
  /** Limits the memory of the process, except mapped files. */
  dataBytes?: number;
}

/** The limits of a process that runs an app. */
const WORKERD_LIMITS = {
  /** A hard limit behind the lower limit of the watchdog. V8 reserves about 500 MB of it without using them. */
  dataBytes: 1_600_000 * 1024,
  /** All memory of a process, with shared memory and the page cache. Also above the limit of the watchdog. */
  memoryMb: 1024,
  /** The largest database or object, as on the production platform. */
  fileSizeMb: 10 * 1024,
  openFiles: 4096,
  processes: 256,
} as const;

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
    const setUp = async (folder: string): Promise<WorkerdSetup> => {
      const { storage, writable } = await createFolders(folder, launch);
      return { storage: { folders: storage, largeValues: "disk" }, writableFolders: writable };
    };
    return new WorkerdProcess(await startWorkerd(this.#processes, launch, { ...this.#options, setUp, signal }));
  }
}

/** What a launcher decides about a process. */
export interface WorkerdSetup extends Pick<WorkerdConfigOptions, "storage" | "cluster"> {
  writableFolders: readonly string[];
}

interface StartOptions extends Pick<LauncherOptions, "launchRoot" | "startLimitMs"> {
  /**
   * Creates the folders of the process.
   *
   * @param folder - the folder of the launch, which does not exist yet, and is removed with the process
   * @param resources - what to release when the process has ended
   */
  setUp(folder: string, resources: AsyncDisposableStack): Promise<WorkerdSetup>;
  signal: AbortSignal;
}

/**
 * Starts workerd in a sandbox, and waits until it listens.
 *
 * @throws {UnhealthyScript} when the script prevents the start, or is not ready in time
 */
export async function startWorkerd(
  processes: ProcessLauncher,
  launch: WorkerdLaunch,
  { launchRoot, startLimitMs, setUp, signal }: StartOptions,
): Promise<StartedWorkerd> {
  signal.throwIfAborted();
  await using starting = new AsyncDisposableStack();
  const folder = path.join(launchRoot, randomUUID());
  starting.defer(() => rm(folder, { recursive: true, force: true }));
  const { writableFolders, ...setup } = await setUp(folder, starting);
  // A new mark for each process, because nothing of an app may imitate what its tail worker prints.
  const mark = randomUUID();
  const config = await workerdConfig({ workers: withTail(launch, mark), ...setup });
  await writeImports(folder, config);
  const { assetsDirectory, dataBytes = WORKERD_LIMITS.dataBytes } = launch;
  const prepared = await processes.prepare({
    folder,
    binaryPath: workerd.default,
    env: { TZ: "UTC" },
    writableFolders,
    readOnlyFolders: [...configFolders(folder), ...(assetsDirectory === null ? [] : [assetsDirectory])],
    limits: { ...WORKERD_LIMITS, dataBytes },
  });
  const launched = starting.adopt(prepared, () => prepared.release());
  const records = launch.records === undefined ? null : new RecordReader(mark, launch.records);
  const output = new WorkerdOutput({ records, masks: launch.masks });
  const spawned = await spawnWorkerd(launched, folder, config);
  return await untilListening(spawned, {
    ...{ launched, output, records, startLimitMs, signal },
    resources: starting.move(),
  });
}

/** Adds the worker that collects what the worker prints. */
function withTail({ worker, records }: WorkerdLaunch, mark: string): [WorkerOptions, ...WorkerOptions[]] {
  if (records === undefined) return [worker];
  return [{ ...worker, streamingTails: [TAIL_WORKER_NAME] }, tailWorker(mark)];
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

/**
 * Creates the folders of one process. A process that uses no storage has none that it can write to.
 *
 * @param folder - the folder of the launch, which is removed with the process
 */
async function createFolders(
  folder: string,
  { worker, storageDirectory, databaseDirectory }: WorkerdLaunch,
): Promise<{ storage: StorageFolders; writable: string[] }> {
  const root = storageDirectory ?? path.join(folder, "storage");
  const sql = databaseDirectory ?? path.join(folder, "database");
  const storage = {
    sql,
    keyValue: path.join(root, STORAGE_FOLDERS.keyValue),
    objects: path.join(root, STORAGE_FOLDERS.objects),
    durableObjects: path.join(root, STORAGE_FOLDERS.durableObjects),
    workflows: path.join(root, STORAGE_FOLDERS.workflows),
  };
  const hasStorage = usesStorage(worker);
  const stored = hasStorage ? Object.values(storage) : [];
  for (const each of [folder, ...stored]) await mkdir(each, { recursive: true, mode: 0o700 });
  return { storage, writable: hasStorage ? [root, sql] : [] };
}
