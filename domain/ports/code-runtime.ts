/** What a program's text may have, in bytes of UTF-8. */
export const MAX_CODE_BYTES = 256 * 1024;

/** How long a program may run, in milliseconds. */
export const RUN_TIME_MS = { least: 100, most: 120_000 } as const;

/** What is kept of each of a program's two outputs, in bytes: of the beginning most, of the end the rest. */
export const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * Answers one call that a program makes, with the rights of whoever runs it: the program holds no right of its own.
 *
 * @param name - `apps.<slug>.<procedure>`, whose procedure may have dots, `tools.<tool>` or `types`; untrusted, like `input`
 * @param signal - aborted when the program has ended, however it did
 * @returns a JSON value
 * @throws {CallError} or a `Refusal`, whose message and code the program gets; anything else is a fault, of which it
 *   learns only that there was one
 */
export type CallHandler = (name: string, input: unknown, signal: AbortSignal) => Promise<unknown>;

/** The answer to a call that failed, in words for the program. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface RunRequest {
  /** A TypeScript module, at most `MAX_CODE_BYTES`. Types are stripped and never checked. */
  code: string;
  /** Within `RUN_TIME_MS`; counted from the moment the program starts. */
  timeoutMs: number;
  calls: CallHandler;
  /** What `service` offers, as a `.d.ts`. The program can import it as `./service.d.ts`, also as text. */
  declarations?: string;
  signal: AbortSignal;
}

export interface RunResult {
  /** At most `MAX_OUTPUT_BYTES`, and a line of ours in place of what is left out; what is not UTF-8 is replaced. */
  stdout: string;
  /** As `stdout`; then, on lines of their own, why the program was stopped and what it could do about its errors. */
  stderr: string;
  /** The program's own; 1 after an uncaught error, 124 when its time was up, 137 at another bound, 128 + n at signal n. */
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
   * Runs one program to its end; when it returns, nothing of the program is left.
   *
   * The program has a global `service`, which cannot be changed: `await service.apps.<slug>.<procedure>(input)`,
   * `await service.tools.<tool>(input)` and `await service.types(name)` are calls, and a call that fails rejects with an
   * `Error` that has a `code`.
   * Beside that it has the language, `zod`, and what of Node.js and the web needs no rights. It has no file, network,
   * environment, subprocess, worker or secret, and can import nothing else.
   *
   * Its time, memory, processes, output and calls are bounded. A program that fails or is stopped is a result, not an
   * error. Not safe to repeat, because its calls are not.
   *
   * @throws {RangeError} when code or time are out of bounds
   * @throws the reason of the request's signal, when that is aborted
   * @throws when the program could not be started (a fault of the platform, never of the program)
   */
  run(request: RunRequest): Promise<RunResult>;
}
