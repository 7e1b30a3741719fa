import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import type { LoopbackPort } from "../ports/sandbox.ts";
import { isRoot } from "./file-ownership.ts";
import { acceptPostgresTls } from "./postgres-tls.ts";
import { processTree } from "./process-tree.ts";
import { TOOL_ENVIRONMENT } from "./system-tools.ts";
import { TrackedSockets } from "./tracked-sockets.ts";

/** Less than a server has for all apps, because each connection occupies it before it is authenticated. */
const MAX_CONNECTIONS = 40;
const LISTEN_SCRIPT = path.join(import.meta.dirname, "listen-in-namespace.cjs");

/** Forwards the connections to ports of the loopback interface of a command. Disposing closes them. */
export class LoopbackPorts implements Disposable {
  readonly #servers: Server[] = [];
  readonly #sockets = new TrackedSockets();
  #isDisposed = false;

  /**
   * Listens in the network of a sandbox, before its command starts.
   *
   * @param initPid - the process above all others of the sandbox
   * @throws when it cannot listen
   */
  async openInside(initPid: number, ports: readonly LoopbackPort[]): Promise<void> {
    const pid = findNetworkOwner(initPid);
    await Promise.all(ports.map(async (port) => this.#forward(await listenInside(pid, port.port), port)));
  }

  /** Listens on the host. @throws when a port is in use */
  async openOnHost(ports: readonly LoopbackPort[]): Promise<void> {
    for (const port of ports) {
      const server = createServer();
      await once(server.listen(port.port, "127.0.0.1"), "listening");
      this.#forward(server, port);
    }
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const server of this.#servers) server.close();
    this.#sockets.destroy();
  }

  #forward(server: Server, { target, protocol }: LoopbackPort): void {
    this.#servers.push(server);
    server.maxConnections = MAX_CONNECTIONS;
    const isUnixSocket = "socketPath" in target;
    server.on("connection", (inside: Socket) => {
      const outside = connect(isUnixSocket ? { path: target.socketPath } : target);
      if (protocol === "postgresql" && isUnixSocket) this.#joinPostgres(inside, outside);
      else this.#sockets.join(inside, outside);
    });
    // The command may have ended meanwhile.
    if (this.#isDisposed) server.close();
  }

  #joinPostgres(inside: Socket, outside: Socket): void {
    for (const socket of [inside, outside]) this.#sockets.add(socket);
    inside.once("close", () => outside.destroySoon());
    outside.once("close", () => inside.destroySoon());
    inside.once("data", (first: Buffer) => {
      inside.pause();
      this.#sockets.join(acceptPostgresTls(inside, first), outside);
    });
  }
}

/** The first process of a sandbox that has another network than the service. */
function findNetworkOwner(initPid: number): number {
  const networkOf = (pid: number | "self") => readlinkSync(`/proc/${pid}/ns/net`);
  const own = networkOf("self");
  const pid = processTree(initPid).find((each) => networkOf(each) !== own);
  if (pid === undefined) throw new Error("The sandbox has no network of its own");
  return pid;
}

/**
 * Enters the network of a process as its owner, who may do so from the user namespace in which bubblewrap has created it. That is
 * the parent of the one in which the process is, and `nsenter` finds only the latter.
 *
 * usage: perl -e … <number of the system call setns> <pid> <command>…
 */
const ENTER_AS_OWNER = `
  my ($setns, $pid, @command) = @ARGV;
  open(my $user, "<", "/proc/$pid/ns/user") or die "user: $!";
  open(my $net, "<", "/proc/$pid/ns/net") or die "net: $!";
  my $parent = ioctl($user, 0xb702, 0) or die "parent: $!";
  syscall($setns, $parent + 0, 0x10000000) == 0 or die "setns: $!";
  syscall($setns, fileno($net), 0x40000000) == 0 or die "setns: $!";
  exec @command or die "exec: $!";`;
const SETNS: Readonly<Record<string, string>> = { x64: "308", arm64: "268" };

function enterNetwork(pid: number): string[] {
  if (isRoot()) return ["nsenter", `--net=/proc/${pid}/ns/net`, "--"];
  return ["perl", "-e", ENTER_AS_OWNER, SETNS[process.arch] ?? "", String(pid)];
}

/** Only a process inside the namespace can open a socket there. It ends when it has passed the socket on. */
async function listenInside(pid: number, port: number): Promise<Server> {
  const [program = "", ...programArguments] = enterNetwork(pid);
  const child = spawn(program, [...programArguments, process.execPath, LISTEN_SCRIPT, String(port)], {
    cwd: "/",
    env: TOOL_ENVIRONMENT,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const errors = collectErrors(child);
  let server: Server | null = null;
  child.once("message", (_message, handle) => (server = handle as Server));
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  child.once("error", reject);
  // Until it has ended, it may accept connections itself.
  child.once("close", () => {
    if (server === null) reject(new Error(`Port ${port} of the sandbox could not be opened: ${errors()}`));
    else resolve(server);
  });
  return promise;
}

function collectErrors({ stderr }: ChildProcess): () => string {
  let text = "";
  stderr?.on("data", (chunk: Buffer) => {
    text = `${text}${chunk.toString()}`.slice(0, 1000);
  });
  return () => text.trim();
}
