import { once } from "node:events";
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { STATUS_DESCRIPTOR } from "./command-layout.ts";
import { killSandbox, untilEnded } from "./kill-process.ts";
import { firstDescendant } from "./process-tree.ts";

/** The status that bubblewrap reports about a command's sandbox. Starts the command, and kills the sandbox. */
export class BubblewrapStatus {
  readonly #child: ChildProcess;
  readonly #initDepth: number;
  readonly #reported: Promise<unknown>;
  #report = "";
  #initPid: number | null = null;
  #killed = false;

  /** @param initDepth - see `killSandbox` */
  constructor(child: ChildProcess, initDepth: number) {
    this.#child = child;
    this.#initDepth = initDepth;
    const status = child.stdio[STATUS_DESCRIPTOR] as Readable;
    status.on("data", (chunk: Buffer) => this.#read(chunk.toString()));
    this.#reported = once(status, "close");
    child.stdin?.on("error", () => undefined);
  }

  /** Kills the sandbox with all its processes; the child ends soon after. May be called repeatedly. */
  kill(): void {
    const { pid } = this.#child;
    if (this.#killed || pid === undefined) return;
    this.#killed = true;
    const hasExited = () => this.#child.exitCode !== null || this.#child.signalCode !== null;
    // If it cannot be killed the child does not exit, and the caller keeps waiting for that.
    killSandbox(pid, hasExited, this.#initDepth).catch(() => undefined);
  }

  /**
   * Returns when the pid namespace is empty. Call it after the child has exited: init has been killed by then, and the
   * kernel kills and reaps all other processes of the namespace before init ends.
   *
   * @throws when the namespace still exists after 10 s
   */
  async untilNamespaceEmpty(): Promise<void> {
    if (this.#initPid !== null) await untilEnded(this.#initPid);
  }

  /** The exit code of the command, or `null` if it was never started. */
  async exitCode(): Promise<number | null> {
    await this.#reported;
    const code = /"exit-code": (\d+)/.exec(this.#report)?.[1];
    return code === undefined ? null : Number(code);
  }

  #read(chunk: string): void {
    this.#report += chunk;
    if (this.#initPid === null && this.#report.includes("child-pid")) this.#start();
  }

  /**
   * bubblewrap reports `child-pid` when the sandbox is set up to die with the service. The command starts only then, so
   * a service that is killed earlier leaves no command running.
   */
  #start(): void {
    this.#initPid = firstDescendant(this.#child.pid ?? 0, this.#initDepth);
    if (!this.#killed) this.#child.stdin?.end("go\n");
  }
}
