import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Readable } from "node:stream";
import { killIfThere } from "./process-mark.ts";
import { childrenOf } from "./process-tree.ts";
import { STATUS_DESCRIPTOR } from "./bubblewrap-arguments.ts";

/** How long a sandbox that is to be killed may take to come up, and a killed one to be gone. */
const PATIENCE_MS = 5000;

/** What bubblewrap reports of the sandbox it makes, and the one safe way to kill that. */
export class BubblewrapStatus {
  readonly #child: ChildProcess;
  readonly #reported: Promise<unknown>;
  #report = "";
  #initPid: number | null = null;
  #doomed: NodeJS.Timeout | null = null;

  constructor(child: ChildProcess) {
    this.#child = child;
    const status = child.stdio[STATUS_DESCRIPTOR] as Readable;
    status.on("data", (chunk: Buffer) => this.#read(chunk.toString()));
    this.#reported = once(status, "close");
    child.stdin?.on("error", () => undefined);
  }

  /**
   * Kills the init of the sandbox's pid namespace, and with it everything in there. (Killing the process we started would
   * do the same, but not tell when it is done.) Before the sandbox is up, it is killed as soon as it is.
   */
  killNamespace(): void {
    if (this.#initPid !== null) killIfThere(this.#initPid);
    else this.#doomed ??= setTimeout(() => this.#child.kill("SIGKILL"), PATIENCE_MS);
  }

  /**
   * Returns when the namespace is empty. When the process we started has ended, init has been killed at the latest; the
   * kernel then kills and reaps every other process of the namespace before init counts as ended.
   *
   * @throws when something is still left after some seconds
   */
  async namespaceGone(): Promise<void> {
    if (this.#doomed) clearTimeout(this.#doomed);
    const deadline = Date.now() + PATIENCE_MS;
    while (this.#initPid !== null && isRunning(this.#initPid)) {
      if (Date.now() > deadline) throw new Error("A killed sandbox is still there");
      await sleep(1);
    }
  }

  /** `null` when the command was never started. */
  async exitCode(): Promise<number | null> {
    await this.#reported;
    return numberIn(this.#report, /"exit-code": (\d+)/);
  }

  #read(chunk: string): void {
    this.#report += chunk;
    if (this.#initPid === null && this.#report.includes("child-pid")) this.#isUp();
  }

  /**
   * The first report comes when everything is tied to our life. The command waits for our go, so that a service which is
   * killed before this leaves nothing running that nobody watches.
   */
  #isUp(): void {
    this.#initPid = childrenOf(this.#child.pid ?? 0)[0] ?? null;
    if (this.#doomed) this.killNamespace();
    else this.#child.stdin?.end("go\n");
  }
}

function numberIn(text: string, pattern: RegExp): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

/** A zombie, whom its new parent has yet to bury, has ended. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
