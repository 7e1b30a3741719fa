import { rmdir } from "node:fs/promises";
import {
  type CodeRuntime,
  MAX_CODE_BYTES,
  RUN_TIME_MS,
  type RunRequest,
  type RunResult,
} from "../../../domain/ports/code-runtime.ts";
import type { Sandbox } from "../../../domain/ports/sandbox.ts";
import { WAITING_MS } from "./deno-command.ts";
import { DenoProcess } from "./deno-process.ts";
import { Modules } from "./importable-modules.ts";
import { WarmPool } from "./warm-pool.ts";
import { Semaphore } from "./semaphore.ts";

export interface DenoOptions {
  /**
   * Must hide the host's files: Deno alone does not keep a program from importing them. Its scratch space is memory
   * that counts for no program, so it should be small (32 MB).
   */
  sandbox: Sandbox;
  /** For the files of programs, from `openProgramsFolder`. */
  programsFolder: string;
  /** For what programs can import, such as `MODULES_FOLDER`. */
  modulesFolder: string;
  /** How many programs run at a time; further ones wait. Each may take a core and 512 MB. */
  concurrency?: number;
  /** How long a Deno waits for the next program, in milliseconds; at most and by default two minutes. */
  waitingMs?: number;
  /** Told of a call's failure that is no refusal, because the program is not. */
  onFault?: (error: unknown, name: string) => void;
}

/** With two, programs that follow each other at once do not wait for the start of each. */
const MOST_WAITING = 2;

/**
 * Runs each program in a Deno of its own, in a sandbox of its own, whose only way out is a socket for its calls. To start
 * one takes several times as long as most programs run, so after the first program others wait for the next ones, for as
 * long as programs keep coming.
 */
export class DenoCodeRuntime implements CodeRuntime, AsyncDisposable {
  readonly #turns: Semaphore;
  readonly #standby: WarmPool<DenoProcess>;
  readonly #programsFolder: string;
  readonly #onFault: (error: unknown, name: string) => void;

  constructor(options: DenoOptions) {
    const { sandbox, programsFolder: programs, concurrency = 8, waitingMs = WAITING_MS } = options;
    const modules = new Modules(options.modulesFolder);
    const start = async () => DenoProcess.start({ sandbox, programs, modules: await modules.ready() });
    this.#turns = new Semaphore(concurrency);
    this.#standby = new WarmPool(start, { most: MOST_WAITING, waitingMs });
    this.#programsFolder = programs;
    this.#onFault = options.onFault ?? (() => undefined);
  }

  async run(request: RunRequest): Promise<RunResult> {
    checkBounds(request);
    const leave = await this.#turns.enter(request.signal);
    try {
      await using deno = await this.#standby.take();
      this.#standby.prepare();
      return await deno.run(request, this.#onFault);
    } finally {
      leave();
      this.#standby.prepare();
    }
  }

  /** Ends those that wait, and removes the folder if no program is running any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#standby.close();
    await rmdir(this.#programsFolder).catch(() => undefined);
  }
}

function checkBounds({ code, timeoutMs }: RunRequest): void {
  if (Buffer.byteLength(code) > MAX_CODE_BYTES) throw new RangeError(`A program has at most ${MAX_CODE_BYTES} bytes`);
  const { least, most } = RUN_TIME_MS;
  if (!(timeoutMs >= least && timeoutMs <= most))
    throw new RangeError(`A program may run from ${least} to ${most} milliseconds`);
}
