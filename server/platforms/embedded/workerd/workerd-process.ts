import { rm } from "node:fs/promises";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Miniflare } from "miniflare";
import type { LaunchedProcess } from "../../../sandbox/process-launcher.ts";
import type { AppProcess } from "../app-process.ts";
import type { WorkerdOutput } from "./workerd-output.ts";

/** How long Miniflare may take to clean up after the process has ended. It must not delay the app. */
const DISPOSE_TIMEOUT_MS = 5_000;

/** The exit of a process, for any reason. */
export class ProcessExit {
  readonly #exit = Promise.withResolvers<void>();
  #hasExited = false;

  get hasExited(): boolean {
    return this.#hasExited;
  }

  get promise(): Promise<void> {
    return this.#exit.promise;
  }

  mark(): void {
    this.#hasExited = true;
    this.#exit.resolve();
  }
}

/** A workerd that has been started, whether or not it became ready. */
export interface StartedWorkerd {
  /** `null` if its constructor threw. */
  miniflare: Miniflare | null;
  launched: LaunchedProcess;
  exit: ProcessExit;
  launchFolder: string;
}

/** One running workerd. It is never restarted; a new one replaces it. */
export class WorkerdProcess implements AppProcess {
  /** The port on 127.0.0.1 of the app, including its static files. */
  readonly port: number;
  readonly output: WorkerdOutput;
  /** Resolves when the process has exited, for any reason. */
  readonly exited: Promise<void>;
  readonly #started: StartedWorkerd;
  #stopping: Promise<void> | undefined;

  constructor(started: StartedWorkerd, output: WorkerdOutput, port: number) {
    this.#started = started;
    this.output = output;
    this.port = port;
    this.exited = started.exit.promise;
  }

  get address(): { host: string; port: number } {
    return { host: "127.0.0.1", port: this.port };
  }

  /** Whether the process has reached the limit of its control group on memory. */
  hasExceededMemory(): boolean {
    return this.#started.launched.hasExceededMemory();
  }

  /** Resident memory of the process with its sandbox, in MiB. */
  residentMb(): Promise<number> {
    return this.#started.launched.residentMb();
  }

  async usesMoreThan(residentMb: number): Promise<boolean> {
    return (await this.residentMb()) > residentMb;
  }

  /**
   * Whether the event loop of workerd responds in time. workerd rejects this request itself, so no code of the app
   * runs, but an endless loop in that code prevents the response.
   */
  isResponsive(timeoutMs: number): Promise<boolean> {
    return isResponsive(this.port, timeoutMs);
  }

  /** Code of a Worker cannot react to the end of its process. */
  shutDown(): Promise<void> {
    return this[Symbol.asyncDispose]();
  }

  /** Kills the process. When this returns, another process may open its storage. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping ??= stopWorkerd(this.#started);
    await this.#stopping;
  }
}

/** Whether the event loop of the workerd that listens on a port of 127.0.0.1 responds in time. */
export function isResponsive(port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: "127.0.0.1" }, () => socket.end("PROBE\r\n\r\n"));
    const settle = (isOpen: boolean) => {
      resolve(isOpen);
      socket.destroy();
    };
    socket
      .once("data", () => settle(true))
      .once("error", () => settle(false))
      .once("close", () => settle(false));
    socket.setTimeout(timeoutMs, () => settle(false));
  });
}

/** Kills a workerd and removes its launch folder. */
export async function stopWorkerd({ miniflare, launched, exit, launchFolder }: StartedWorkerd): Promise<void> {
  await launched.kill(() => exit.hasExited);
  // Miniflare may treat this as a crash and start the process again, which the launch folder prevents. So the folder
  // exists until Miniflare is disposed of.
  await Promise.race([miniflare?.dispose().catch(() => {}), sleep(DISPOSE_TIMEOUT_MS, null, { ref: false })]);
  await rm(launchFolder, { recursive: true, force: true });
  await launched.release();
}
