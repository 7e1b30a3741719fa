import type { RunRequest, RunResult } from "../../../domain/ports/code-runtime.ts";
import type { Sandbox } from "../../../domain/ports/sandbox.ts";
import type { CallContext } from "./call-dispatch.ts";
import { CallSocket } from "./call-socket.ts";
import { getMounts, getSocketPath } from "./deno-command.ts";
import { appendNote, getExitStatus } from "./exit-status.ts";
import { createProgramFolder, type ProgramFolder } from "./program-folders.ts";
import { makeErrorsReadable, withoutPaths } from "./readable-errors.ts";
import { RunTimer } from "./run-timer.ts";
import { SandboxedDeno } from "./sandboxed-deno.ts";

export interface DenoProcessOptions {
  sandbox: Sandbox;
  /** The folder on the host in which each program gets a folder. */
  programsFolder: string;
  /** The folder on the host with the modules that programs can import. */
  modulesFolder: string;
}

interface Resources {
  folder: ProgramFolder;
  socket: CallSocket;
  deno: SandboxedDeno;
  /** All of them, in the order of their creation. */
  disposables: AsyncDisposableStack;
}

/** A started Deno process in a sandbox of its own. It waits for the one program that it will run. */
export class DenoProcess implements AsyncDisposable {
  readonly ended: Promise<void>;
  readonly #resources: Resources;

  /** @throws when the process does not start, which is an internal error */
  static async start({ sandbox, programsFolder, modulesFolder }: DenoProcessOptions): Promise<DenoProcess> {
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(await createProgramFolder(programsFolder));
    const connected = Promise.withResolvers<void>();
    const socket = await CallSocket.open(getSocketPath(folder.path), () => connected.resolve());
    opening.defer(() => socket.close());
    const deno = opening.use(new SandboxedDeno(sandbox, getMounts(folder.path, modulesFolder)));
    await deno.waitUntilReady(connected.promise);
    return new DenoProcess({ folder, socket, deno, disposables: opening.move() });
  }

  private constructor(resources: Resources) {
    this.#resources = resources;
    const ignore = () => undefined;
    this.ended = resources.deno.outcome.then(ignore, ignore);
  }

  /**
   * Runs the program. May be called once.
   *
   * @throws the reason of the request's signal when it is aborted
   */
  async run(request: RunRequest, onInternalError: CallContext["onInternalError"]): Promise<RunResult> {
    const { folder, socket, deno } = this.#resources;
    const { code, declarations = "", timeoutMs, handleCall, signal } = request;
    await folder.writeProgram(code, declarations);
    signal.throwIfAborted();
    const stop = () => deno.stop("caller");
    signal.addEventListener("abort", stop);
    const timer = new RunTimer(timeoutMs, () => deno.stop("time"));
    try {
      socket.start({ handleCall, onInternalError });
      const outcome = await deno.outcome;
      signal.throwIfAborted();
      const stderr = deno.stderr.text();
      const { exitCode, timedOut, note } = getExitStatus(outcome, deno.stopReason, timeoutMs, stderr);
      return {
        stdout: withoutPaths(deno.stdout.text()),
        stderr: appendNote(makeErrorsReadable(stderr), note),
        exitCode,
        durationMs: timer.getElapsedMs(),
        truncated: deno.stdout.truncated || deno.stderr.truncated,
        timedOut,
      };
    } finally {
      timer.stop();
      signal.removeEventListener("abort", stop);
    }
  }

  /** Stops the process, aborts its calls, and waits until nothing of it is left. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposables.disposeAsync();
  }
}
