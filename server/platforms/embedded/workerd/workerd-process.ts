import net from "node:net";
import type { LaunchedProcess } from "../../../sandbox/process-launcher.ts";
import type { AppProcess } from "../app-process.ts";
import type { RecordReader } from "./record-reader.ts";
import type { SpawnedWorkerd } from "./spawn-workerd.ts";
import type { WorkerdOutput } from "./workerd-output.ts";
import { untilReady } from "./workerd-readiness.ts";

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

interface StartOptions {
  launched: LaunchedProcess;
  output: WorkerdOutput;
  records: RecordReader | null;
  /** What to release when the process has ended. */
  resources: AsyncDisposable;
  /** Of the CPU time that the start may use. */
  startLimitMs: number;
  signal: AbortSignal;
}

/** A process that listens. */
export interface StartedWorkerd extends Pick<StartOptions, "launched" | "output" | "resources"> {
  /** On 127.0.0.1. */
  port: number;
  exit: ProcessExit;
}

/**
 * Waits until a spawned process listens. Otherwise ends it.
 *
 * @throws {UnhealthyScript} when the script prevents the start, or is not ready in time
 */
export async function untilListening(spawned: SpawnedWorkerd, options: StartOptions): Promise<StartedWorkerd> {
  const { output, records, launched, resources, startLimitMs, signal } = options;
  output.follow(spawned.stdout, true);
  output.follow(spawned.stderr);
  const exit = new ProcessExit();
  void spawned.exited.then(() => exit.mark());
  void spawned.exited.then(() => records?.reportUnconfirmed());
  try {
    const starting = { ready: spawned.port, output, exited: exit.promise, readCpuMs: () => launched.cpuMs() };
    const port = await untilReady(starting, startLimitMs, signal);
    records?.reportUnconfirmed();
    return { port, exit, launched, output, resources };
  } catch (error) {
    records?.reportUnconfirmed();
    await launched.kill(() => exit.hasExited);
    await resources[Symbol.asyncDispose]();
    throw error;
  }
}

/** One running workerd. It is never restarted; a new one replaces it. */
export class WorkerdProcess implements AppProcess {
  /** The port on 127.0.0.1 of the app, including its static files. */
  readonly port: number;
  readonly output: WorkerdOutput;
  /** Resolves when the process has exited, for any reason. */
  readonly exited: Promise<void>;
  readonly #started: StartedWorkerd;
  #ending: Promise<void> | undefined;

  constructor(started: StartedWorkerd) {
    this.#started = started;
    this.output = started.output;
    this.port = started.port;
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

  cpuMs(): Promise<number> {
    return this.#started.launched.cpuMs();
  }

  /** Code of a Worker cannot react to the end of its process. */
  shutDown(): Promise<void> {
    return this[Symbol.asyncDispose]();
  }

  /** Kills the process. When this returns, another process may open its storage. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  /** Asks the process to end, and returns at once. */
  protected async terminate(): Promise<void> {
    await this.#started.launched.terminate();
  }

  protected async kill(): Promise<void> {
    this.#ending ??= this.#end();
    await this.#ending;
  }

  async #end(): Promise<void> {
    const { launched, exit, resources } = this.#started;
    await launched.kill(() => exit.hasExited);
    await resources[Symbol.asyncDispose]();
  }
}

/** Whether the event loop of the workerd that listens on a port of 127.0.0.1 responds in time. */
function isResponsive(port: number, timeoutMs: number): Promise<boolean> {
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
