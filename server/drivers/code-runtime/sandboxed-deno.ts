import type { Mount, Sandbox, SandboxOutcome } from "../../../domain/ports/sandbox.ts";
import { CapturedOutput } from "./captured-output.ts";
import { COMMAND_LINE, ENVIRONMENT, LIMITS, PROGRAM_FOLDER, STARTUP_MS } from "./deno-command.ts";
import type { StopReason } from "./exit-status.ts";

/** Deno in a sandbox, from its start to its end. */
export class SandboxedDeno implements AsyncDisposable {
  readonly output = new CapturedOutput(() => this.stop("output"));
  readonly errors = new CapturedOutput(() => this.stop("output"));
  /** Rejects when the sandbox could not be made. */
  readonly outcome: Promise<SandboxOutcome>;
  readonly #stopping = new AbortController();

  constructor(sandbox: Sandbox, mounts: readonly Mount[]) {
    this.outcome = sandbox.run({
      argv: COMMAND_LINE,
      cwd: PROGRAM_FOLDER,
      env: ENVIRONMENT,
      mounts,
      network: { kind: "none" },
      limits: LIMITS,
      onOutput: (chunk) => this.output.add(chunk),
      onErrorOutput: (chunk) => this.errors.add(chunk),
      signal: this.#stopping.signal,
    });
  }

  /** Why it was stopped; `null` when it was not. */
  get stopped(): StopReason | null {
    return this.#stopping.signal.aborted ? (this.#stopping.signal.reason as StopReason) : null;
  }

  /** Only the first reason counts. */
  stop(reason: StopReason): void {
    this.#stopping.abort(reason);
  }

  /** @throws when it ends, or too much time passes, before `connected` */
  async comesUp(connected: Promise<void>): Promise<void> {
    const tooLate = setTimeout(() => this.stop("time"), STARTUP_MS);
    try {
      const ended = await Promise.race([connected, this.outcome]);
      if (ended) throw new Error(`Deno did not start (${JSON.stringify(ended)}): ${this.errors.text()}`);
    } finally {
      clearTimeout(tooLate);
    }
  }

  /** When it returns, nothing of it is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop("caller");
    await this.outcome.catch(() => undefined);
  }
}
