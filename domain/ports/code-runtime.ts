import type { WorkspaceId } from "./agent-workspaces.ts";

/** The longest program, in bytes of UTF-8. */
export const MAX_CODE_BYTES = 256 * 1024;

export function isCodeTooLong(code: string): boolean {
  return Buffer.byteLength(code) > MAX_CODE_BYTES;
}

/** The bounds on the time limit of a program, in milliseconds. */
export const RUN_TIME_MS = { min: 100, max: 120_000 } as const;

/** How much of each output stream of a program is kept, in bytes: mostly the beginning, and some of the end. */
export const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * Handles one call of a program with the rights of its caller. The program itself has no rights.
 *
 * @param name - `apps.<slug>.<procedure>` (a procedure may contain dots), `tools.<tool>` or `types`. Untrusted, like `input`.
 * @param signal - aborted when the program ends for any reason
 * @returns a JSON value
 * @throws {CallError} or `ServiceError`, whose message and code the program receives. Anything else is an internal error:
 *   the program learns only that one happened.
 */
export type CallHandler = (name: string, input: unknown, signal: AbortSignal) => Promise<unknown>;

/** An error response to a call. The message is for the author of the program. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface RunRequest {
  /** Which organization runs the program. It has a share of the programs that run at the same time. */
  orgId: string;
  /** A TypeScript module, at most `MAX_CODE_BYTES`. Types are removed without being checked. */
  code: string;
  /** Within `RUN_TIME_MS`. Counts from the start of the program. */
  timeoutMs: number;
  handleCall: CallHandler;
  /** The types of `service`, as a `.d.ts`. The program can import it as `./service.d.ts`, also as text. */
  declarations?: string;
  /** The workspace of the agent that runs the program. Without it, `/workspace` is empty, and its files are discarded. */
  workspace?: ProgramWorkspace | undefined;
  signal: AbortSignal;
}

export interface ProgramWorkspace {
  id: WorkspaceId;
  /** Whether the changes of the program are discarded. */
  readOnly: boolean;
}

export interface RunResult {
  /** At most `MAX_OUTPUT_BYTES`, plus a line that replaces what was left out. Invalid UTF-8 is replaced. */
  stdout: string;
  /** Like `stdout`, followed by lines that say why the program was stopped and how to avoid its errors. */
  stderr: string;
  /** The program's own exit code; 1 after an uncaught error, 124 after a timeout, 137 at another bound, 128 + n at signal n. */
  exitCode: number;
  /** From the start of the program to its end, in whole milliseconds. */
  durationMs: number;
  /** Whether some of the output is missing. */
  truncated: boolean;
  timedOut: boolean;
}

/** Runs programs that agents write. */
export interface CodeRuntime {
  /**
   * Runs one program until it ends. When the call returns, nothing of the program is left.
   *
   * The program has a read-only global `service`. `await service.apps.<slug>.<procedure>(input)`,
   * `await service.tools.<tool>(input)` and `await service.types(name)` are calls. A call that fails rejects with an
   * `Error` that has a `code`. In addition, the program can use `zod`, and the parts of Node.js and the web platform
   * that need no permission. It has no network, environment, subprocesses, workers or secrets.
   *
   * A program whose code contains the text `/workspace` has this folder, with the bounds of `WORKSPACE_LIMITS`, and no other
   * files. It can also import from it, and nothing else. What the program left there is kept for the next one with the same
   * workspace, however the program ended; of programs that change the same workspace, one runs at a time. `stderr` says
   * when the changes were not kept, and the exit code is then not 0.
   *
   * Its time, memory, processes, output and calls are bounded. A program that fails or is stopped is a result, not an
   * error. Not safe to repeat, because the calls of the program are not.
   *
   * @throws {RangeError} when the code or the time limit is out of bounds
   * @throws {ServiceError} `unavailable` while too many programs wait
   * @throws the reason of the request's signal when it is aborted
   * @throws when the program cannot be started, which is an internal error
   */
  run(request: RunRequest): Promise<RunResult>;
}
