import {
  type CodeRuntime,
  MAX_CODE_BYTES,
  RUN_TIME_MS,
  type RunRequest,
  type RunResult,
} from "../../../domain/ports/code-runtime.ts";
import type { Sandbox } from "../../../domain/ports/sandbox.ts";
import { CallSocket } from "./call-socket.ts";
import { CapturedOutput } from "./captured-output.ts";
import { COMMAND_LINE, ENVIRONMENT, limitsFor, mountsFor, PROGRAM_FOLDER, socketIn } from "./deno-command.ts";
import { createProgramFolder, type ProgramFolder } from "./program-folder.ts";
import { readableErrors, withoutPaths } from "./readable-errors.ts";
import { endingOf, type StopReason, withEnding } from "./run-ending.ts";
import { RunClock } from "./run-clock.ts";
import { Turnstile } from "./turnstile.ts";

export interface DenoOptions {
  /**
   * Must hide the host's files: Deno alone does not keep a program from importing them. Its scratch space is memory
   * that counts for no program, so it should be small (32 MB).
   */
  sandbox: Sandbox;
  /** How many programs run at a time; the others wait. Each may take a core and 512 MB. */
  concurrency?: number;
  /** Told of a call's failure that is no refusal, because the program is not. */
  onFault?: (error: unknown, name: string) => void;
}

/** Runs each program in a Deno of its own, in a sandbox of its own, whose only way out is a socket for its calls. */
export class DenoCodeRuntime implements CodeRuntime {
  readonly #sandbox: Sandbox;
  readonly #turns: Turnstile;
  readonly #onFault: (error: unknown, name: string) => void;

  constructor({ sandbox, concurrency = 8, onFault = () => undefined }: DenoOptions) {
    this.#sandbox = sandbox;
    this.#turns = new Turnstile(concurrency);
    this.#onFault = onFault;
  }

  async run(request: RunRequest): Promise<RunResult> {
    checkBounds(request);
    const leave = await this.#turns.enter(request.signal);
    try {
      await using folder = await createProgramFolder(request.code, request.declarations);
      return await this.#runIn(folder, request);
    } finally {
      leave();
    }
  }

  async #runIn(folder: ProgramFolder, request: RunRequest): Promise<RunResult> {
    const stop = new AbortController();
    const because = (reason: StopReason) => stop.abort(reason);
    const clock = new RunClock(request.timeoutMs, () => because("time"));
    const [out, errors] = [new CapturedOutput(() => because("output")), new CapturedOutput(() => because("output"))];
    const answering = { handle: request.calls, onFault: this.#onFault };
    const calls = await CallSocket.open(socketIn(folder.path), answering, () => clock.start());
    try {
      const outcome = await this.#sandbox.run({
        argv: COMMAND_LINE,
        cwd: PROGRAM_FOLDER,
        env: ENVIRONMENT,
        mounts: mountsFor(folder.path, folder.files),
        network: { kind: "none" },
        limits: limitsFor(request.timeoutMs),
        onOutput: (chunk) => out.add(chunk),
        onErrorOutput: (chunk) => errors.add(chunk),
        signal: AbortSignal.any([stop.signal, request.signal]),
      });
      request.signal.throwIfAborted();
      const stopped = stop.signal.aborted ? (stop.signal.reason as StopReason) : null;
      const { exitCode, timedOut, note } = endingOf(outcome, stopped, request.timeoutMs, errors.text());
      const stderr = withEnding(readableErrors(errors.text()), note);
      const truncated = out.truncated || errors.truncated;
      return { stdout: withoutPaths(out.text()), stderr, exitCode, durationMs: clock.elapsedMs(), truncated, timedOut };
    } finally {
      clock.stop();
      calls.close();
    }
  }
}

function checkBounds({ code, timeoutMs }: RunRequest): void {
  if (Buffer.byteLength(code) > MAX_CODE_BYTES) throw new RangeError(`A program has at most ${MAX_CODE_BYTES} bytes`);
  const { least, most } = RUN_TIME_MS;
  if (!(timeoutMs >= least && timeoutMs <= most))
    throw new RangeError(`A program may run from ${least} to ${most} milliseconds`);
}
