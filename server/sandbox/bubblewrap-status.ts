import { once } from "node:events";
import { STATUS_DESCRIPTOR } from "./command-layout.ts";
import { killSandbox, untilEnded } from "./kill-process.ts";
import { firstDescendant } from "./process-tree.ts";
import type { StartedProcess } from "./start-process.ts";
import { terminateProcesses } from "./terminate-processes.ts";

/** The status that bubblewrap reports about a command's sandbox. Starts the command, and kills the sandbox. */
export class BubblewrapStatus {
  readonly #process: StartedProcess;
  readonly #initDepth: number;
  readonly #startDescriptor: number;
  readonly #prepare: ((initPid: number) => Promise<void>) | null;
  readonly #reported: Promise<unknown>;
  #report = "";
  #initPid: number | null = null;
  #killed = false;
  /** Why the command was not started. */
  #failure: Error | null = null;

  /**
   * @param initDepth - see `killSandbox`
   * @param startDescriptor - from which the sandbox reads when the command may start
   * @param prepare - awaited before the command starts, with the pid of the init of the sandbox
   */
  constructor(
    started: StartedProcess,
    { initDepth, startDescriptor }: { initDepth: number; startDescriptor: number },
    prepare: ((initPid: number) => Promise<void>) | null = null,
  ) {
    this.#process = started;
    this.#prepare = prepare;
    this.#startDescriptor = startDescriptor;
    this.#initDepth = initDepth;
    const status = started.pipes[STATUS_DESCRIPTOR];
    this.#reported = status === undefined ? Promise.resolve() : once(status, "close");
    status?.on("data", (chunk: Buffer) => this.#read(chunk.toString()));
  }

  /** Kills the sandbox with all its processes; the process ends soon after. May be called repeatedly. */
  kill(): void {
    if (this.#killed) return;
    this.#killed = true;
    const { pid, hasExited } = this.#process;
    // If it cannot be killed the process does not exit, and the caller keeps waiting for that.
    killSandbox(pid, hasExited, this.#initDepth).catch(() => undefined);
  }

  /** Whether the process has ended by a signal that the service did not send, such as that of the kernel without memory. */
  async wasKilledFromOutside(): Promise<boolean> {
    const { signal } = await this.#process.exit;
    return signal !== null && !this.#killed;
  }

  /** Sends SIGTERM to the processes of the command that handle it, and returns them. See `terminateProcesses`. */
  terminate(): number[] {
    const { pid, hasExited } = this.#process;
    // Without its parent, the pid of init may belong to another process.
    if (this.#initPid === null || hasExited() || firstDescendant(pid, this.#initDepth) !== this.#initPid) return [];
    return terminateProcesses(this.#initPid);
  }

  /**
   * Returns when the pid namespace is empty. Call it after the process has exited: init has been killed by then, and the
   * kernel kills and reaps all other processes of the namespace before init ends.
   *
   * @throws when the namespace still exists after 10 s
   */
  async untilNamespaceEmpty(): Promise<void> {
    if (this.#initPid !== null) await untilEnded(this.#initPid);
  }

  /**
   * The exit code of the command, or `null` if it was never started.
   *
   * @throws what `prepare` has thrown
   */
  async exitCode(): Promise<number | null> {
    await this.#reported;
    if (this.#failure !== null) throw this.#failure;
    const code = /"exit-code": (\d+)/.exec(this.#report)?.[1];
    return code === undefined ? null : Number(code);
  }

  #read(chunk: string): void {
    this.#report += chunk;
    if (this.#initPid === null && this.#report.includes("child-pid")) void this.#start();
  }

  /**
   * bubblewrap reports `child-pid` when the sandbox is set up to die with the service. The command starts only then, so
   * a service that is killed earlier leaves no command running.
   */
  async #start(): Promise<void> {
    this.#initPid = firstDescendant(this.#process.pid, this.#initDepth);
    if (this.#prepare !== null && this.#initPid !== null) {
      try {
        await this.#prepare(this.#initPid);
      } catch (error) {
        this.#failure = error as Error;
        this.kill();
      }
    }
    if (!this.#killed) this.#process.pipes[this.#startDescriptor]?.resume().end("go\n");
  }
}
