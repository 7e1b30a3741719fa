import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { parseJson } from "../../../../domain/shared/json.ts";
import type { LaunchedProcess } from "../../../sandbox/process-launcher.ts";
import type { AppProcess } from "../app-process.ts";
import type { RecordReader } from "../workerd/record-reader.ts";
import type { WorkerdOutput } from "../workerd/workerd-output.ts";
import { isResponsive, ProcessExit } from "../workerd/workerd-process.ts";
import { untilReady } from "../workerd/workerd-readiness.ts";
import { SOCKET } from "./workerd-config.ts";

/** A started workerd, and the stream on which it reports where it listens. */
export interface SpawnedWorkerd {
  stdout: Readable;
  stderr: Readable;
  control: Readable;
  /** Resolves when the process has exited. */
  exited: Promise<void>;
}

interface StartOptions {
  launched: LaunchedProcess;
  output: WorkerdOutput;
  records: RecordReader | null;
  /** What to release when the process has ended. */
  resources: AsyncDisposable;
  timeoutMs: number;
  signal: AbortSignal;
}

/** How long a process may take to hand its durable objects to others. The engine needs 8 s at most. */
const HANDOFF_MS = 10_000;

/** One workerd that is a member of the cluster of its app. It is never restarted; a new one replaces it. */
export class ClusterProcess implements AppProcess {
  readonly port: number;
  readonly output: WorkerdOutput;
  readonly exited: Promise<void>;
  readonly #launched: LaunchedProcess;
  readonly #exit: ProcessExit;
  #stopping: Promise<void> | undefined;
  readonly #resources: AsyncDisposable;

  private constructor(port: number, exit: ProcessExit, { launched, output, resources }: StartOptions) {
    this.port = port;
    this.output = output;
    this.exited = exit.promise;
    this.#exit = exit;
    this.#launched = launched;
    this.#resources = resources;
  }

  /**
   * Waits until a spawned process listens.
   *
   * @throws {UnhealthyScript} when the script prevents the start, or is not ready in time
   */
  static async untilReady(spawned: SpawnedWorkerd, options: StartOptions): Promise<ClusterProcess> {
    const { output, records, launched, resources, timeoutMs, signal } = options;
    output.follow(spawned.stdout, true);
    output.follow(spawned.stderr);
    const exit = new ProcessExit();
    void spawned.exited.then(() => exit.mark());
    void spawned.exited.then(() => records?.reportUnconfirmed());
    try {
      const port = await untilReady(
        { ready: readPort(spawned.control), output, exited: exit.promise, exitGraceMs: 0 },
        timeoutMs,
        signal,
      );
      records?.reportUnconfirmed();
      return new ClusterProcess(port, exit, options);
    } catch (error) {
      await launched.kill(() => exit.hasExited);
      await resources[Symbol.asyncDispose]();
      throw error;
    }
  }

  get address(): { host: string; port: number } {
    return { host: "127.0.0.1", port: this.port };
  }

  hasExceededMemory(): boolean {
    return this.#launched.hasExceededMemory();
  }

  async usesMoreThan(residentMb: number): Promise<boolean> {
    return (await this.#launched.residentMb()) > residentMb;
  }

  isResponsive(timeoutMs: number): Promise<boolean> {
    return isResponsive(this.port, timeoutMs);
  }

  /**
   * Lets the process hand its durable objects to the other processes of the app: those of a killed one are away for 20 seconds.
   * Returns at once, because no other process needs its files. `ended` resolves when it has ended.
   */
  async shutDown(): Promise<void> {
    if (this.#stopping !== undefined) return;
    this.#stopping = Promise.race([this.exited, sleep(HANDOFF_MS, null, { ref: false })]).then(() => this.#end());
    this.#stopping.catch(() => undefined);
    await this.#launched.terminate();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutDown();
  }

  /** Resolves when the process has ended after `shutDown`. */
  async ended(): Promise<void> {
    await this.#stopping;
  }

  async #end(): Promise<void> {
    await this.#launched.kill(() => this.#exit.hasExited);
    await this.#resources[Symbol.asyncDispose]();
  }
}

/** Never resolves if the stream ends before: then the process has ended too. */
async function readPort(control: SpawnedWorkerd["control"]): Promise<number> {
  for await (const line of createInterface({ input: control })) {
    const { event, socket, port } = (parseJson(line) ?? {}) as { event?: string; socket?: string; port?: number };
    if (event === "listen" && socket === SOCKET && port !== undefined) return port;
  }
  return new Promise(() => undefined);
}
