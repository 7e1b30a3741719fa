import net from "node:net";
import type { SandboxOutcome } from "../../../ports/sandbox.ts";
import type { AppAddress } from "../../../ports/app-address.ts";
import type { AppProcess } from "../app-process.ts";
import type { NodeOutput } from "./node-output.ts";
import type { RequestSockets } from "./request-sockets.ts";

/** What belongs to the processes of one Node server. */
export interface StartedServer {
  sockets: RequestSockets;
  output: NodeOutput;
  /** The end of all its processes. */
  outcome: Promise<SandboxOutcome>;
  /** See `AppProcess`. */
  accept: () => Promise<void>;
  /** See `AppProcess`. */
  hasUnkeptFiles: () => Promise<boolean>;
  /** The end of what is done after the end of the processes. */
  finished: Promise<void>;
  readCpuMs: () => number;
  /** Sends them SIGTERM, and kills them some time later. */
  shutDown(): void;
  /** Kills them. */
  stop(): void;
  /** Releases the rest, after their end. */
  release(): Promise<void>;
}

/** The running processes of one Node server. The sandbox limits their memory. */
export class NodeProcess implements AppProcess {
  readonly output: NodeOutput;
  readonly exited: Promise<void>;
  readonly #started: StartedServer;
  #address: AppAddress;
  #outcome: SandboxOutcome | null = null;
  #ending: Promise<void> | undefined;

  constructor(started: StartedServer, address: AppAddress) {
    this.#started = started;
    this.#address = address;
    this.output = started.output;
    this.exited = this.#observeEnd();
  }

  get address(): AppAddress {
    return this.#address;
  }

  hasExceededMemory(): boolean {
    return this.#outcome?.reason === "memory";
  }

  async usesMoreThan(): Promise<boolean> {
    return false;
  }

  /** Node.js rejects this request itself. If nobody listens any more, the server may listen anew. */
  async isResponsive(timeoutMs: number): Promise<boolean> {
    this.#address = (await this.#started.sockets.takeBetter()) ?? this.#address;
    const result = await probe(this.#address, timeoutMs);
    if (result !== "refused") return result === "responsive";
    const address = await this.#started.sockets.take();
    if (address !== null) this.#address = address;
    return address !== null;
  }

  accept(): Promise<void> {
    return this.#started.accept();
  }

  hasUnkeptFiles(): Promise<boolean> {
    return this.#started.hasUnkeptFiles();
  }

  async cpuMs(): Promise<number> {
    return this.#started.readCpuMs();
  }

  async #observeEnd(): Promise<void> {
    this.#outcome = await this.#started.outcome.catch(() => null);
  }

  async shutDown(): Promise<void> {
    this.#started.shutDown();
    await (this.#ending ??= removeAtEnd(this.#started));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#started.stop();
    await (this.#ending ??= removeAtEnd(this.#started));
  }
}

/** Kills a server and removes its folders. */
export async function stopServer(started: StartedServer): Promise<void> {
  started.stop();
  await removeAtEnd(started);
}

async function removeAtEnd({ finished, release }: StartedServer): Promise<void> {
  await finished;
  await release();
}

function probe(address: AppAddress, timeoutMs: number): Promise<"responsive" | "silent" | "refused"> {
  return new Promise((resolve) => {
    const options = "socketPath" in address ? { path: address.socketPath } : address;
    const socket = net.connect(options, () => socket.end("PROBE\r\n\r\n"));
    const settle = (result: "responsive" | "silent" | "refused") => {
      resolve(result);
      socket.destroy();
    };
    socket
      .once("data", () => settle("responsive"))
      .once("error", (error: NodeJS.ErrnoException) => settle(error.code === "ECONNREFUSED" ? "refused" : "responsive"))
      // A server that handles invalid requests itself may only close the connection.
      .once("close", () => settle("responsive"));
    socket.setTimeout(timeoutMs, () => settle("silent"));
  });
}
