import type { Sandbox, SandboxOutcome } from "../../ports/sandbox.ts";
import { CapturedOutput } from "./captured-output.ts";
import {
  ENVIRONMENT,
  getCommandLine,
  getMounts,
  LIMITS,
  LIMITS_WITH_WORKSPACE,
  PROGRAM_FOLDER,
  type ProgramMounts,
  STARTUP_MS,
} from "./deno-command.ts";

/** Why the driver stopped a program. `caller` means that its result is no longer needed. */
export type StopReason = "time" | "output" | "caller";

/** One Deno process in its sandbox. */
export class SandboxedDeno implements AsyncDisposable {
  readonly stdout = new CapturedOutput(() => this.stop("output"));
  readonly stderr = new CapturedOutput(() => this.stop("output"));
  /** Rejects when the sandbox could not be created. */
  readonly outcome: Promise<SandboxOutcome>;
  readonly #stopping = new AbortController();

  constructor(sandbox: Sandbox, mounts: ProgramMounts) {
    const hasWorkspace = mounts.workspace !== null;
    this.outcome = sandbox.run({
      argv: getCommandLine({ hasWorkspace }),
      cwd: PROGRAM_FOLDER,
      env: ENVIRONMENT,
      mounts: getMounts(mounts),
      network: { kind: "none" },
      limits: hasWorkspace ? LIMITS_WITH_WORKSPACE : LIMITS,
      onOutput: (chunk) => this.stdout.add(chunk),
      onErrorOutput: (chunk) => this.stderr.add(chunk),
      signal: this.#stopping.signal,
    });
  }

  /** `null` unless `stop` was called. */
  get stopReason(): StopReason | null {
    return this.#stopping.signal.aborted ? (this.#stopping.signal.reason as StopReason) : null;
  }

  /** Stops the process. Later calls do not change the reason. */
  stop(reason: StopReason): void {
    this.#stopping.abort(reason);
  }

  /** @throws when the process ends, or takes too long, before `connected` resolves */
  async waitUntilReady(connected: Promise<void>): Promise<void> {
    const timeout = setTimeout(() => this.stop("time"), STARTUP_MS);
    try {
      const outcome = await Promise.race([connected, this.outcome]);
      if (outcome) throw new Error(`Deno did not start (${JSON.stringify(outcome)}): ${this.stderr.text()}`);
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Stops the process and waits until nothing of it is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop("caller");
    await this.outcome.catch(() => undefined);
  }
}
