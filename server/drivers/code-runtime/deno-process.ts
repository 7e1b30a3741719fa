import type { OpenWorkspace } from "../../../domain/ports/agent-workspaces.ts";
import type { RunRequest, RunResult } from "../../../domain/ports/code-runtime.ts";
import type { Sandbox, SandboxOutcome } from "../../ports/sandbox.ts";
import type { CallContext } from "./call-dispatch.ts";
import { CallSocket } from "./call-socket.ts";
import { getSocketPath } from "./deno-command.ts";
import { appendNotes, getExitStatus } from "./exit-status.ts";
import { createProgramFolder, type ProgramFolder } from "./program-folders.ts";
import { makeErrorsReadable, withoutPaths } from "./readable-errors.ts";
import { SandboxedDeno } from "./sandboxed-deno.ts";
import type { Volume, WorkspaceVolumes } from "./workspace-volumes.ts";

export interface DenoProcessOptions {
  sandbox: Sandbox;
  /** The folder on the host in which each program gets a folder. */
  programsFolder: string;
  /** The folder on the host with the modules that programs can import. */
  modulesFolder: string;
  /** Where programs have their workspace; `null` for programs without one. */
  volumes: WorkspaceVolumes | null;
}

interface Resources {
  folder: ProgramFolder;
  socket: CallSocket;
  deno: SandboxedDeno;
  volume: Volume | null;
  /** All of them, in the order of their creation. */
  disposables: AsyncDisposableStack;
}

/** A started Deno process in a sandbox of its own. It waits for the one program that it will run. */
export class DenoProcess implements AsyncDisposable {
  readonly ended: Promise<void>;
  readonly #resources: Resources;

  /** @throws when the process does not start, which is an internal error */
  static async start({ sandbox, programsFolder, modulesFolder, volumes }: DenoProcessOptions): Promise<DenoProcess> {
    await using opening = new AsyncDisposableStack();
    const volume = volumes === null ? null : opening.use(await volumes.acquire());
    const folder = opening.use(await createProgramFolder(programsFolder));
    const connected = Promise.withResolvers<void>();
    const socket = await CallSocket.open(getSocketPath(folder.path), () => connected.resolve());
    opening.defer(() => socket.close());
    const mounts = { folder: folder.path, modulesFolder, workspace: volume?.path ?? null };
    const deno = opening.use(new SandboxedDeno(sandbox, mounts));
    await deno.waitUntilReady(connected.promise);
    return new DenoProcess({ folder, socket, deno, volume, disposables: opening.move() });
  }

  private constructor(resources: Resources) {
    this.#resources = resources;
    const ignore = () => undefined;
    this.ended = resources.deno.outcome.then(ignore, ignore);
  }

  /**
   * Runs the program. May be called once.
   *
   * @param workspace - `null` for a temporary one
   * @throws the reason of the request's signal when it is aborted
   */
  async run(
    request: RunRequest,
    workspace: OpenWorkspace | null,
    onInternalError: CallContext["onInternalError"],
  ): Promise<RunResult> {
    const { folder, socket, deno, volume } = this.#resources;
    const { code, declarations = "", timeoutMs, handleCall, signal } = request;
    await folder.writeProgram(code, declarations);
    signal.throwIfAborted();
    using cleanup = new DisposableStack();
    const stop = () => deno.stop("caller");
    signal.addEventListener("abort", stop);
    cleanup.defer(() => signal.removeEventListener("abort", stop));
    if (volume !== null) await this.#load(workspace, signal);
    const timer = cleanup.adopt(new RunTimer(timeoutMs, () => deno.stop("time")), (each) => each.stop());
    socket.start({ handleCall, onInternalError });
    const outcome = await deno.outcome;
    const durationMs = timer.getElapsedMs();
    const saved = volume === null ? null : await saveWorkspace(workspace, volume.path, onInternalError);
    signal.throwIfAborted();
    return { ...this.#createResult(outcome, timeoutMs, saved), durationMs };
  }

  async #load(workspace: OpenWorkspace | null, signal: AbortSignal): Promise<void> {
    try {
      await this.#resources.socket.send(workspace?.read() ?? readEmptyWorkspace());
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  #createResult(
    outcome: SandboxOutcome,
    timeoutMs: number,
    saved: WorkspaceResult | null,
  ): Omit<RunResult, "durationMs"> {
    const { stdout, stderr, stopReason } = this.#resources.deno;
    const { exitCode, timedOut, note } = getExitStatus(outcome, stopReason, timeoutMs, stderr.text());
    const notes = [note, ...(saved?.notes ?? [])].filter((each) => each !== null);
    return {
      stdout: withoutPaths(stdout.text()),
      stderr: appendNotes(makeErrorsReadable(stderr.text()), notes),
      exitCode: exitCode === 0 && saved?.isLost === true ? 1 : exitCode,
      truncated: stdout.truncated || stderr.truncated,
      timedOut,
    };
  }

  /** Stops the process, aborts its calls, and waits until nothing of it is left. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposables.disposeAsync();
  }
}

/** Measures and limits the time of one program. It starts now: the start of the sandbox does not count. */
class RunTimer {
  readonly #startedAt = performance.now();
  readonly #timeout: NodeJS.Timeout;

  constructor(timeoutMs: number, onTimeout: () => void) {
    this.#timeout = setTimeout(onTimeout, timeoutMs);
  }

  getElapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  stop(): void {
    clearTimeout(this.#timeout);
  }
}

/** What happened to the files that a program left in its workspace. */
interface WorkspaceResult {
  /** Lines for the author of the program. */
  notes: string[];
  /** Whether changes were not kept. */
  isLost: boolean;
}

const KEPT: WorkspaceResult = { notes: [], isLost: false };
const NOT_KEPT = "The changes of this program to /workspace were not kept.";

/** What a program receives that has no workspace of an agent. See `OpenWorkspace.read`. */
async function* readEmptyWorkspace(): AsyncIterable<Uint8Array> {
  yield Buffer.from("[]\n");
}

/**
 * Saves the files that a program left. The program has ended, so its result is returned even if they cannot be saved.
 *
 * @param workspace - `null` for a temporary one, whose files are discarded
 */
async function saveWorkspace(
  workspace: OpenWorkspace | null,
  folder: string,
  onInternalError: (error: unknown, name: string) => void,
): Promise<WorkspaceResult> {
  if (workspace === null) return KEPT;
  try {
    const { problem, omitted } = await workspace.save(folder);
    if (problem !== null) return { notes: [`${NOT_KEPT} ${problem}`], isLost: true };
    return omitted === 0 ? KEPT : { notes: [describeOmitted(omitted)], isLost: false };
  } catch (error) {
    onInternalError(error, "save the workspace");
    return { notes: [`${NOT_KEPT} The reason is an internal error of the service.`], isLost: true };
  }
}

function describeOmitted(count: number): string {
  const entries = count === 1 ? "1 entry" : `${count} entries`;
  return `${entries} of /workspace ${count === 1 ? "was" : "were"} not kept: only files and folders are, with a path of at most 1024 bytes of UTF-8.`;
}
