import { readFile, rm } from "node:fs/promises";
import net from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Miniflare } from "miniflare";
import { endTree, processTree, residentMb } from "./process-tree.ts";
import type { WorkerdOutput } from "./workerd-output.ts";

/** The process is gone by then; what remains is Miniflare's own bookkeeping, which must not hold up the app. */
const DISPOSE_TIMEOUT_MS = 5_000;

/** Tells when a process has ended, for whatever reason. */
export class EndOfProcess {
  readonly #end = Promise.withResolvers<void>();
  #over = false;

  get over(): boolean {
    return this.#over;
  }

  get promise(): Promise<void> {
    return this.#end.promise;
  }

  mark(): void {
    this.#over = true;
    this.#end.resolve();
  }
}

interface Parts {
  /** `null` when not even that could be made. */
  miniflare: Miniflare | null;
  output: WorkerdOutput;
  end: EndOfProcess;
  runDirectory: string;
  port: number;
  /** Called once the process is gone and its files are free. */
  onGone: () => void;
}

/** One running workerd. It is never restarted: when it ends, a new one takes its place. */
export class WorkerdProcess implements AsyncDisposable {
  /** The port on 127.0.0.1 that reaches the app, its static files included. */
  readonly port: number;
  readonly output: WorkerdOutput;
  readonly ended: Promise<void>;
  readonly #parts: Parts;
  #stopped: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.port = parts.port;
    this.output = parts.output;
    this.ended = parts.end.promise;
  }

  /** Resident memory of the process with its sandbox, in MB. */
  async residentMb(): Promise<number> {
    const pid = await pidOf(this.#parts.runDirectory);
    return pid === null ? 0 : residentMb(await processTree(pid));
  }

  /**
   * Whether the event loop turns. The request is one that workerd itself refuses, so no code of the app runs, and an
   * endless loop in that code leaves it unanswered.
   */
  answers(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = net.connect({ port: this.port, host: "127.0.0.1" }, () => socket.end("PROBE\r\n\r\n"));
      const settle = (answered: boolean) => {
        resolve(answered);
        socket.destroy();
      };
      socket
        .once("data", () => settle(true))
        .once("error", () => settle(false))
        .once("close", () => settle(false));
      socket.setTimeout(timeoutMs, () => settle(false));
    });
  }

  /** Ends the process at once. When it returns, nothing of it runs and its storage may be opened by another one. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped ??= endWorkerd(this.#parts);
    await this.#stopped;
  }
}

/** Ends what `start` began, also when it never became ready. */
export async function endWorkerd({
  miniflare,
  end,
  runDirectory,
  onGone,
}: Omit<Parts, "port" | "output">): Promise<void> {
  const pid = await pidOf(runDirectory);
  // Of a process that has ended the pid may be another one's by now.
  if (pid !== null && !end.over) await endTree(pid);
  // Miniflare may take this for a crash and start the wrapper script once more, which then refuses; so the pid stays
  // noted until Miniflare is done.
  await Promise.race([miniflare?.dispose().catch(() => {}), sleep(DISPOSE_TIMEOUT_MS, null, { ref: false })]);
  await rm(runDirectory, { recursive: true, force: true });
  onGone();
}

/** The wrapper script notes its pid; workerd is that process or one below it. */
async function pidOf(runDirectory: string): Promise<number | null> {
  const pid = Number(await readFile(path.join(runDirectory, "pid"), "utf8").catch(() => ""));
  return pid > 0 ? pid : null;
}
