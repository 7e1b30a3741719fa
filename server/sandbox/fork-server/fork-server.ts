import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { createSocketFolder, type SocketFolder } from "../socket-folder.ts";
import type { ProcessExit, ProcessRequest, StartedProcess } from "../start-process.ts";
import { TOOL_ENVIRONMENT } from "../system-tools.ts";
import { decodeHeader, encodeHeader, HEADER_BYTES, type ProcessMessage, type StartMessage } from "./messages.ts";

const MAIN_MODULE = path.join(import.meta.dirname, "fork-server-process.mjs");

/**
 * Starts processes in place of the service, from a small process. Starting a process copies the page tables of its
 * parent and stops the parent's thread meanwhile: 1.5 ms of CPU time with 60 MB of memory, 8 ms with 230 MB.
 *
 * The fork server itself starts with the first process, and again after it has ended. Its processes are bound to it, as
 * they would be to the service: those that die with their parent die with the fork server, which dies with the service.
 */
export class ForkServer implements AsyncDisposable {
  #running: Promise<RunningForkServer> | null = null;

  /** See `StartProcess`. */
  readonly start = async (request: ProcessRequest): Promise<StartedProcess> => {
    const running = this.#running;
    const current = await running?.catch(() => null);
    if (current?.isConnected) return current.start(request);
    // Of several callers, the first one replaces it.
    const next = this.#running === running || this.#running === null ? openForkServer() : this.#running;
    this.#running = next;
    return (await next).start(request);
  };

  /** Ends the fork server, and all processes that die with it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#running?.catch(() => null))?.[Symbol.asyncDispose]();
  }
}

/** A process that has been requested, until it has ended. */
class RequestedProcess {
  readonly #started = Promise.withResolvers<StartedProcess>();
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly #sockets: Socket[] = [];
  #missing: number;
  #pid: number | null = null;
  #hasExited = false;

  constructor({ descriptors, inputs }: ProcessRequest) {
    this.#missing = descriptors - inputs.size;
  }

  get started(): Promise<StartedProcess> {
    return this.#started.promise;
  }

  /** Settles when nothing more can happen to the process. It never rejects. */
  get settled(): Promise<unknown> {
    return Promise.allSettled([this.#started.promise, this.#exit.promise]);
  }

  connect(descriptor: number, socket: Socket): void {
    this.#sockets[descriptor] = socket;
    this.#missing -= 1;
    this.#resolveIfStarted();
  }

  setPid(pid: number): void {
    this.#pid = pid;
    this.#resolveIfStarted();
  }

  end(exit: ProcessExit): void {
    this.#hasExited = true;
    this.#exit.resolve(exit);
    this.#sockets[0]?.destroy();
  }

  fail(error: Error): void {
    this.#hasExited = true;
    this.#started.reject(error);
    this.#exit.reject(error);
    for (const socket of this.#sockets) socket?.destroy();
  }

  #resolveIfStarted(): void {
    if (this.#pid === null || this.#missing > 0) return;
    // Nothing is read from the standard input, but its end must be.
    this.#sockets[0]?.resume();
    const hasExited = () => this.#hasExited;
    this.#started.resolve({ pid: this.#pid, pipes: this.#sockets, hasExited, exit: this.#exit.promise });
  }
}

async function openForkServer(): Promise<RunningForkServer> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await createSocketFolder("fork-server"));
  const socketPath = path.join(folder.path, "socket");
  const server = createServer();
  opening.defer(() => void server.close());
  await once(server.listen(socketPath), "listening");
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", process.execPath, MAIN_MODULE], {
    cwd: "/",
    env: TOOL_ENVIRONMENT,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
  });
  await once(child, "spawn");
  opening.move();
  return new RunningForkServer(child, server, folder, socketPath);
}

class RunningForkServer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #server: Server;
  readonly #socketPath: string;
  readonly #processes = new Map<number, RequestedProcess>();
  #lastId = 0;
  /** Settles when the fork server has ended. */
  readonly ended: Promise<void>;

  constructor(child: ChildProcess, server: Server, folder: SocketFolder, socketPath: string) {
    this.#child = child;
    this.#server = server;
    this.#socketPath = socketPath;
    server.on("connection", (socket) => this.#accept(socket));
    child.on("message", (message: ProcessMessage) => this.#receive(message));
    this.ended = this.#cleanUpAtEnd(folder);
  }

  get isConnected(): boolean {
    return this.#child.connected;
  }

  start(request: ProcessRequest): Promise<StartedProcess> {
    this.#lastId += 1;
    const id = this.#lastId;
    const requested = new RequestedProcess(request);
    this.#processes.set(id, requested);
    void requested.settled.then(() => this.#processes.delete(id));
    const { argv, descriptors, inputs } = request;
    const pipes = Array.from({ length: descriptors }, (_, descriptor) => descriptor)
      .filter((descriptor) => !inputs.has(descriptor))
      .map((descriptor) => ({ descriptor, header: encodeHeader(id, descriptor) }));
    const message: StartMessage = { id, argv, pipes, inputs, socketPath: this.#socketPath };
    this.#child.send(message, (error) => error && requested.fail(error));
    return requested.started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.ended;
  }

  async #cleanUpAtEnd(folder: SocketFolder): Promise<void> {
    await once(this.#child, "exit");
    for (const requested of this.#processes.values())
      requested.fail(new Error("The process that starts sandboxes has ended."));
    this.#server.close();
    await folder[Symbol.asyncDispose]();
  }

  #accept(socket: Socket): void {
    // A process that ends early closes its pipes. Its exit then contains the reason.
    socket.on("error", () => undefined);
    const readHeader = (): void => {
      const header = socket.read(HEADER_BYTES) as Buffer | null;
      if (header === null) return;
      socket.off("readable", readHeader);
      const { id, descriptor } = decodeHeader(header);
      const requested = this.#processes.get(id);
      if (requested === undefined) socket.destroy();
      else requested.connect(descriptor, socket);
    };
    socket.on("readable", readHeader);
  }

  #receive(message: ProcessMessage): void {
    const requested = this.#processes.get(message.id);
    if ("pid" in message) requested?.setPid(message.pid);
    else if ("exit" in message) requested?.end(message.exit);
    else requested?.fail(new Error(message.error));
  }
}
