import type { AgentWorkspaces, OpenWorkspace } from "../../../domain/ports/agent-workspaces.ts";
import {
  type CodeRuntime,
  isCodeTooLong,
  MAX_CODE_BYTES,
  RUN_TIME_MS,
  type RunRequest,
  type RunResult,
} from "../../../domain/ports/code-runtime.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { FairQueue } from "../../../domain/shared/fair-queue.ts";
import type { StartProcess } from "../../sandbox/start-process.ts";
import { IDLE_TIMEOUT_MS, WORKSPACE } from "./deno-command.ts";
import { DenoProcess } from "./deno-process.ts";
import { ImportableModules } from "./prepare-importable-modules.ts";
import { removeProgramsFolder } from "./program-folders.ts";
import { WarmPool } from "./warm-pool.ts";
import { WorkspaceVolumes } from "./workspace-volumes.ts";

export interface DenoCodeRuntimeOptions {
  /**
   * Must hide the files of the host: Deno's permissions do not prevent static imports of files. `SANDBOX_FILES` are its
   * options. Its temporary file system is small, because it uses memory that counts for no program.
   */
  sandbox: Sandbox;
  /** The folder for files of programs, from `openProgramsFolder`. */
  programsFolder: string;
  /** The folder for the modules that programs can import, such as `MODULES_FOLDER`. */
  modulesFolder: string;
  /** The workspaces of agents. */
  workspaces: AgentWorkspaces;
  /** Whether the workspaces of running programs are file systems in memory, whose size the kernel limits. */
  hasVolumesInMemory: boolean;
  /** Mounts these file systems. */
  startProcess?: StartProcess | undefined;
  /** Programs that run at the same time. Others wait. Each may use one core and 512 MB. */
  concurrency?: number;
  /** How long an idle Deno process waits for a program. At most two minutes, which is the default. */
  idleTimeoutMs?: number;
  /** Receives internal errors of calls, which are not shown to the program. */
  onInternalError?: (error: unknown, name: string) => void;
}

/** With two, a sequence of programs does not wait for the start of each process. */
const MAX_IDLE = 2;

/** The default of `DenoCodeRuntimeOptions.concurrency`. */
const DEFAULT_CONCURRENCY = 8;

/** How many of the programs that run at the same time belong to one organization. The others keep a quarter. */
const MAX_SHARE = 0.75;
/** How many programs wait, in all and of one organization. */
const MAX_WAITING = { waiting: 400, waitingPerKey: 100 };

/** How many processes with a workspace exist at the same time: running, idle, or being removed. */
export function countVolumes(concurrency = DEFAULT_CONCURRENCY): number {
  return concurrency + 2 * MAX_IDLE;
}

/**
 * Runs each program in a Deno process of its own, in a sandbox of its own, whose only connection is a socket for calls.
 * Starting a process takes several times as long as most programs run, so further processes are started ahead of time
 * while programs keep coming. Processes with a workspace are separate ones, so that other programs need no volume.
 */
export class DenoCodeRuntime implements CodeRuntime, AsyncDisposable {
  readonly #queue: FairQueue;
  readonly #pool: WarmPool<DenoProcess>;
  readonly #poolWithWorkspace: WarmPool<DenoProcess>;
  readonly #volumes: WorkspaceVolumes;
  readonly #workspaces: AgentWorkspaces;
  readonly #programsFolder: string;
  readonly #onInternalError: (error: unknown, name: string) => void;
  readonly #closing = new AbortController();
  /** Programs with a workspace. */
  readonly #running = new Set<Promise<RunResult>>();

  constructor(options: DenoCodeRuntimeOptions) {
    const { sandbox, programsFolder, concurrency = DEFAULT_CONCURRENCY, idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
    const modules = new ImportableModules(options.modulesFolder);
    const start = async (volumes: WorkspaceVolumes | null) =>
      DenoProcess.start({ sandbox, programsFolder, modulesFolder: await modules.prepare(), volumes });
    const mountedCount = options.hasVolumesInMemory ? countVolumes(concurrency) : null;
    this.#volumes = new WorkspaceVolumes({ programsFolder, mountedCount, startProcess: options.startProcess });
    this.#workspaces = options.workspaces;
    this.#queue = new FairQueue(
      { running: concurrency, runningPerKey: Math.ceil(concurrency * MAX_SHARE), ...MAX_WAITING },
      "The service is running other programs. Try again in a few seconds.",
    );
    const idle = { maxIdle: MAX_IDLE, idleTimeoutMs };
    this.#pool = new WarmPool(() => start(null), idle);
    this.#poolWithWorkspace = new WarmPool(() => start(this.#volumes), idle);
    this.#programsFolder = programsFolder;
    this.#onInternalError = options.onInternalError ?? (() => undefined);
  }

  async run(request: RunRequest): Promise<RunResult> {
    checkBounds(request);
    const { code, orgId, signal } = request;
    signal.throwIfAborted();
    // Most programs use no files. They need not wait for others of the same agent.
    if (!code.includes(WORKSPACE))
      return await this.#queue.run(orgId, () => this.#runOn(this.#pool, request, null), signal);
    const running = this.#runWithWorkspace({ ...request, signal: AbortSignal.any([signal, this.#closing.signal]) });
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async #runWithWorkspace(request: RunRequest): Promise<RunResult> {
    const { orgId, workspace, signal } = request;
    signal.throwIfAborted();
    const run = (opened: OpenWorkspace | null) =>
      this.#queue.run(orgId, () => this.#runOn(this.#poolWithWorkspace, request, opened), signal);
    if (workspace === undefined) return await run(null);
    return await this.#workspaces.open(workspace.id, { readOnly: workspace.readOnly, signal }, run);
  }

  async #runOn(pool: WarmPool<DenoProcess>, request: RunRequest, workspace: OpenWorkspace | null): Promise<RunResult> {
    try {
      await using deno = await pool.acquire();
      pool.prewarm();
      return await deno.run(request, workspace, this.#onInternalError);
    } finally {
      pool.prewarm();
    }
  }

  /**
   * Stops idle processes, and programs that use a workspace: what they have written is kept. Removes the programs folder
   * unless another program is still running.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("The service is stopping"));
    await Promise.allSettled(this.#running);
    await Promise.all([this.#pool.close(), this.#poolWithWorkspace.close()]);
    await this.#volumes[Symbol.asyncDispose]();
    await removeProgramsFolder(this.#programsFolder);
  }
}

function checkBounds({ code, timeoutMs }: RunRequest): void {
  if (isCodeTooLong(code)) throw new RangeError(`A program has at most ${MAX_CODE_BYTES} bytes`);
  const { min, max } = RUN_TIME_MS;
  if (!(timeoutMs >= min && timeoutMs <= max))
    throw new RangeError(`The time limit of a program is between ${min} and ${max} milliseconds`);
}
