import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import type { Miniflare } from "miniflare";
import type * as miniflareLibrary from "miniflare";
import { sandboxMiniflare, withoutSignalHandlers } from "./miniflare-environment.ts";
import { SandboxUsers } from "./sandbox-users.ts";
import type { WorkerOptions } from "./worker-options.ts";
import { WorkerdOutput } from "./workerd-output.ts";
import { EndOfProcess, endWorkerd, WorkerdProcess } from "./workerd-process.ts";
import { untilReady } from "./workerd-readiness.ts";
import { prepareRun, type Folders, type Run } from "./workerd-folders.ts";

export interface LauncherOptions {
  /** A folder for what lives only as long as a process; emptied by `open`. */
  runRoot: string;
  /** `none` only by explicit choice: apps then run as this very user and see all of its files. */
  sandbox: "bubblewrap" | "none";
  startTimeoutMs: number;
}

export interface Launch extends Folders {
  worker: WorkerOptions;
  /** Bounds the memory of the process, other than what it maps from files. */
  dataBytes?: number;
}

type Started = Required<Pick<Launch, "worker" | "dataBytes">>;

/** A backstop behind the supervisor's softer bound. V8 reserves some 500 MB of it without using them. */
const DATA_BYTES = 1_600_000 * 1024;

/** Starts workerd processes, each in its own sandbox that holds nothing but the folders it is given. */
export class WorkerdLauncher {
  readonly #options: LauncherOptions;
  /** Only root can give each sandbox a user of its own. */
  readonly #users: SandboxUsers | null;

  constructor(options: LauncherOptions) {
    this.#options = options;
    this.#users = options.sandbox === "bubblewrap" && process.getuid?.() === 0 ? new SandboxUsers() : null;
    sandboxMiniflare();
  }

  /** Clears what an earlier process left; its children died with it. */
  async open(): Promise<void> {
    await rm(this.#options.runRoot, { recursive: true, force: true });
    await mkdir(this.#options.runRoot, { recursive: true, mode: 0o700 });
  }

  /**
   * Starts a process and waits until it listens. No two running ones may share a folder: workerd takes no lock.
   *
   * @throws {UnhealthyScript} when the script itself keeps it from starting, or it is not ready in time
   */
  async start({ worker, dataBytes = DATA_BYTES, ...folders }: Launch, signal: AbortSignal): Promise<WorkerdProcess> {
    signal.throwIfAborted();
    const run = await prepareRun(this.#options.runRoot, folders, this.#users);
    const release = () => void (run.uid !== null && this.#users?.release(run.uid));
    const output = new WorkerdOutput();
    const end = new EndOfProcess();
    const parts = { end, runDirectory: run.directory, onGone: release };
    let miniflare: Miniflare | null = null;
    try {
      // Imported when the first app starts, because it is large.
      const library = await import("miniflare");
      miniflare = withoutSignalHandlers(() => this.#miniflare(library, { worker, dataBytes }, run, output, end));
      await untilReady({ miniflare, output, ended: end.promise }, this.#options.startTimeoutMs, signal);
      const { port } = await miniflare.unsafeGetDirectURL(worker.name);
      return new WorkerdProcess({ ...parts, miniflare, output, port: Number(port) });
    } catch (error) {
      await endWorkerd({ ...parts, miniflare });
      throw error;
    }
  }

  #miniflare(
    { Log, LogLevel, Miniflare }: typeof miniflareLibrary,
    { worker, dataBytes }: Started,
    run: Run,
    output: WorkerdOutput,
    end: EndOfProcess,
  ): Miniflare {
    return new Miniflare({
      ...worker,
      host: "127.0.0.1",
      port: 0,
      // Without this it asks the vendor for facts about this machine's location when it starts.
      cf: false,
      log: new Log(LogLevel.NONE),
      logRequests: false,
      structuredWorkerdLogs: true,
      handleRuntimeStdio(stdout: Readable, stderr: Readable) {
        output.follow(stdout);
        output.follow(stderr);
        stdout.once("close", () => end.mark());
      },
      kvPersist: path.join(run.storage, "kv"),
      r2Persist: path.join(run.storage, "r2"),
      durableObjectsPersist: path.join(run.storage, "do"),
      workflowsPersist: path.join(run.storage, "workflows"),
      d1Persist: run.database,
      unsafeRuntimeEnv: scriptEnvironment(run, this.#options.sandbox, dataBytes),
    });
  }
}

/** What `workerd.sh` reads. */
function scriptEnvironment(run: Run, sandbox: LauncherOptions["sandbox"], dataBytes: number): Record<string, string> {
  return {
    EDGE_RUN: run.directory,
    EDGE_SANDBOX: sandbox,
    EDGE_UID: run.uid === null ? "" : String(run.uid),
    EDGE_DATA_BYTES: String(dataBytes),
    EDGE_STORAGE: run.storage,
    EDGE_DATABASE: run.database,
    EDGE_ASSETS: run.assets ?? "",
  };
}
