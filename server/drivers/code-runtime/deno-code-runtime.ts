import PQueue from "p-queue";
import {
  type CodeRuntime,
  isCodeTooLong,
  MAX_CODE_BYTES,
  RUN_TIME_MS,
  type RunRequest,
  type RunResult,
} from "../../../domain/ports/code-runtime.ts";
import type { Sandbox } from "../../../domain/ports/sandbox.ts";
import { IDLE_TIMEOUT_MS } from "./deno-command.ts";
import { DenoProcess } from "./deno-process.ts";
import { ImportableModules } from "./prepare-importable-modules.ts";
import { removeProgramsFolder } from "./program-folders.ts";
import { WarmPool } from "./warm-pool.ts";

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
  /** Programs that run at the same time. Others wait. Each may use one core and 512 MB. */
  concurrency?: number;
  /** How long an idle Deno process waits for a program. At most two minutes, which is the default. */
  idleTimeoutMs?: number;
  /** Receives internal errors of calls, which are not shown to the program. */
  onInternalError?: (error: unknown, name: string) => void;
}

/** With two, a sequence of programs does not wait for the start of each process. */
const MAX_IDLE = 2;

/**
 * Runs each program in a Deno process of its own, in a sandbox of its own, whose only connection is a socket for calls.
 * Starting a process takes several times as long as most programs run, so further processes are started ahead of time
 * while programs keep coming.
 */
export class DenoCodeRuntime implements CodeRuntime, AsyncDisposable {
  readonly #queue: PQueue;
  readonly #pool: WarmPool<DenoProcess>;
  readonly #programsFolder: string;
  readonly #onInternalError: (error: unknown, name: string) => void;

  constructor(options: DenoCodeRuntimeOptions) {
    const { sandbox, programsFolder, concurrency = 8, idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
    const modules = new ImportableModules(options.modulesFolder);
    const start = async () => DenoProcess.start({ sandbox, programsFolder, modulesFolder: await modules.prepare() });
    this.#queue = new PQueue({ concurrency });
    this.#pool = new WarmPool(start, { maxIdle: MAX_IDLE, idleTimeoutMs });
    this.#programsFolder = programsFolder;
    this.#onInternalError = options.onInternalError ?? (() => undefined);
  }

  async run(request: RunRequest): Promise<RunResult> {
    checkBounds(request);
    const { signal } = request;
    signal.throwIfAborted();
    // The queue would free the slot of a running program as soon as the signal aborts, while the program is still being
    // stopped. So it gets a signal that only matters while the program waits.
    const waiting = new AbortController();
    const stopWaiting = () => waiting.abort(signal.reason);
    signal.addEventListener("abort", stopWaiting, { once: true });
    const runInTurn = () => {
      signal.removeEventListener("abort", stopWaiting);
      return this.#runNow(request);
    };
    return this.#queue.add(runInTurn, { signal: waiting.signal });
  }

  async #runNow(request: RunRequest): Promise<RunResult> {
    try {
      await using deno = await this.#pool.acquire();
      this.#pool.prewarm();
      return await deno.run(request, this.#onInternalError);
    } finally {
      this.#pool.prewarm();
    }
  }

  /** Stops idle processes. Removes the programs folder unless a program is still running. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.close();
    await removeProgramsFolder(this.#programsFolder);
  }
}

function checkBounds({ code, timeoutMs }: RunRequest): void {
  if (isCodeTooLong(code)) throw new RangeError(`A program has at most ${MAX_CODE_BYTES} bytes`);
  const { min, max } = RUN_TIME_MS;
  if (!(timeoutMs >= min && timeoutMs <= max))
    throw new RangeError(`The time limit of a program is between ${min} and ${max} milliseconds`);
}
