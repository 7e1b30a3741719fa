import type { RunRequest, RunResult } from "../../../domain/ports/code-runtime.ts";
import type { Sandbox } from "../../../domain/ports/sandbox.ts";
import type { Answering } from "./call-dispatch.ts";
import { CallSocket } from "./call-socket.ts";
import { mountsFor, socketIn } from "./deno-command.ts";
import { createProgramFolder, type ProgramFolder } from "./program-folders.ts";
import { readableErrors, withoutPaths } from "./readable-errors.ts";
import { RunClock } from "./run-timer.ts";
import { exitStatusOf, withEnding } from "./exit-status.ts";
import { SandboxedDeno } from "./sandboxed-deno.ts";

export interface DenoPlaces {
  sandbox: Sandbox;
  /** The host's folder in which each program has one of its own. */
  programs: string;
  /** The host's folder with what programs can import. */
  modules: string;
}

interface Parts {
  folder: ProgramFolder;
  calls: CallSocket;
  deno: SandboxedDeno;
  /** All of them, in the order they were made. */
  all: AsyncDisposableStack;
}

/** A Deno that has started, in a sandbox of its own, and waits for the one program that it will run. */
export class DenoProcess implements AsyncDisposable {
  readonly ended: Promise<void>;
  readonly #parts: Parts;

  /** @throws when it does not come up (a fault of the platform) */
  static async start({ sandbox, programs, modules }: DenoPlaces): Promise<DenoProcess> {
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(await createProgramFolder(programs));
    const connected = Promise.withResolvers<void>();
    const calls = await CallSocket.open(socketIn(folder.path), () => connected.resolve());
    opening.defer(() => calls.close());
    const deno = opening.use(new SandboxedDeno(sandbox, mountsFor(folder.path, modules)));
    await deno.comesUp(connected.promise);
    return new DenoProcess({ folder, calls, deno, all: opening.move() });
  }

  private constructor(parts: Parts) {
    this.#parts = parts;
    const nothing = () => undefined;
    this.ended = parts.deno.outcome.then(nothing, nothing);
  }

  /**
   * Runs its program; to be called once.
   *
   * @throws the reason of the request's signal, when that is aborted
   */
  async run(request: RunRequest, onFault: Answering["onFault"]): Promise<RunResult> {
    const { folder, calls, deno } = this.#parts;
    const { code, declarations = "", timeoutMs, signal } = request;
    const giveUp = () => deno.stop("caller");
    await folder.fill(code, declarations);
    signal.throwIfAborted();
    signal.addEventListener("abort", giveUp);
    const clock = new RunClock(timeoutMs, () => deno.stop("time"));
    try {
      calls.start({ handle: request.calls, onFault });
      const outcome = await deno.outcome;
      signal.throwIfAborted();
      const { exitCode, timedOut, note } = exitStatusOf(outcome, deno.stopped, timeoutMs, deno.errors.text());
      return {
        stdout: withoutPaths(deno.output.text()),
        stderr: withEnding(readableErrors(deno.errors.text()), note),
        exitCode,
        durationMs: clock.elapsedMs(),
        truncated: deno.output.truncated || deno.errors.truncated,
        timedOut,
      };
    } finally {
      clock.stop();
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** When it returns, nothing of the process is left, and the calls that were not answered are aborted. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.all.disposeAsync();
  }
}
