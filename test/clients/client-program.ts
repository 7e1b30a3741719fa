import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";

const PROGRAM_TIMEOUT_MS = 90_000;
const POLL_MS = 100;
/** A program ignores keys while it draws, so they are sent again until it shows what they cause. */
const REPEAT_KEYS_MS = 1000;

export interface ProgramOptions {
  env?: Record<string, string>;
  /** Runs the program in a pseudo-terminal. */
  terminal?: boolean;
}

interface StartOptions extends ProgramOptions {
  folder: string;
  env: Record<string, string>;
  /** Ends the program. */
  signal: AbortSignal;
}

/** A running program of a client, with its output so far. It ends after 90 seconds at the latest. */
export class ClientProgram {
  readonly #label: string;
  readonly #child: ChildProcess;
  readonly #signal: AbortSignal;
  readonly #closed: Promise<[code: number | null, signal: string | null]>;
  #output = "";

  constructor(command: string[], label: string, { folder, env, terminal = false, signal }: StartOptions) {
    this.#label = label;
    this.#signal = AbortSignal.any([signal, AbortSignal.timeout(PROGRAM_TIMEOUT_MS)]);
    const [file = "", ...args] = terminal
      ? ["python3", "-c", RUN_IN_TERMINAL, "sh", "-c", RESIZE, "sh", ...command]
      : command;
    this.#child = spawn(file, args, { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
    if (!terminal) this.#child.stdin?.end();
    // A program that ends while keys are sent closes its input.
    this.#child.stdin?.on("error", () => undefined);
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.#output += String(chunk);
      });
    const end = (): void => this.end();
    this.#signal.addEventListener("abort", end, { once: true });
    this.#closed = once(this.#child, "close") as Promise<[number | null, string | null]>;
    void this.#closed.then(
      () => this.#signal.removeEventListener("abort", end),
      () => undefined,
    );
  }

  get output(): string {
    return this.#output;
  }

  /** Waits for the end of the program and returns its output. Fails if its exit code is not 0. */
  async untilEnd(): Promise<string> {
    const [code, signal] = await this.#closed;
    if (code !== 0) throw this.failure(`ended with ${signal ?? code}`);
    return this.#output;
  }

  /** Waits until the program shows a text. */
  async untilShown(text: RegExp): Promise<void> {
    while (!text.test(stripVTControlCharacters(this.#output))) {
      if (this.#child.exitCode !== null || this.#signal.aborted) throw this.failure(`did not show ${text}`);
      await delay(POLL_MS);
    }
  }

  /** Sends keys to the program until it shows a text. */
  async press(keys: string, shows: RegExp): Promise<void> {
    const shown = this.untilShown(shows);
    const press = (): boolean | undefined => this.#child.stdin?.write(keys);
    const timer = setInterval(press, REPEAT_KEYS_MS);
    press();
    try {
      await shown;
    } finally {
      clearInterval(timer);
    }
  }

  /** Ends the program with its process group. */
  end(): void {
    const { pid } = this.#child;
    if (pid !== undefined) killIfRunning(-pid);
  }

  /** An error with what the program did not do, and the last part of its output. */
  failure(problem: string, options?: ErrorOptions): Error {
    const shown = stripVTControlCharacters(this.#output).slice(-4000);
    return new Error(`${this.#label} ${problem}${this.#reasonOfEnd()}:\n${shown}`, options);
  }

  #reasonOfEnd(): string {
    return this.#signal.aborted ? ` (${(this.#signal.reason as Error).message})` : "";
  }
}

/** @param pid - a process, or the negative id of a process group */
export function killIfRunning(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A terminal without a size shows nothing. */
const RESIZE = 'stty rows 50 cols 200; exec "$@"';

const RUN_IN_TERMINAL = `
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
`;
