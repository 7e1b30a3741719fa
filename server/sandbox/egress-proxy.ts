import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { HOP_BY_HOP_HEADERS } from "../http/hop-by-hop-headers.ts";
import { connectTo, type Lookup, lookupAll } from "./connect-to-host.ts";
import { isPublic, isPublicPort, isReachable } from "./public-address.ts";
import { createSocketFolder, type SocketFolder } from "./socket-folder.ts";

const MAX_CONNECTIONS = 256;

export interface EgressOptions {
  /**
   * The allowed `host:port` pairs, or `public` for the ports 80, 443 and from 1024 of all hosts with public addresses. A
   * request to any other host gets status 403.
   */
  allow: readonly string[] | "public";
  /** A port at which all hosts with public addresses are allowed too. */
  publicPort?: number;
  lookup?: Lookup;
  /** Which addresses a host of `allow` may have; by default `isReachable`, and `isPublic` with `public`. */
  isAllowedAddress?: (address: string, host: string) => boolean;
  /** A host whose plain HTTP this process answers itself. */
  answered?: AnsweredHost;
  /** Called for every request, when the proxy has connected to the host or refused it. */
  onRequest?: (host: string, result: EgressResult) => void;
}

export interface AnsweredHost {
  /** `host:port`. */
  authority: string;
  /** Receives requests in absolute form and in origin form. */
  answer: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** `refused`: the host or the port is not allowed. `unreachable`: it has no allowed address, or does not respond. */
export type EgressResult = "connected" | "refused" | "unreachable";

/**
 * An HTTP proxy on a unix socket, for sandboxed commands. It accepts `CONNECT` and absolute-form requests to allowed
 * hosts only. It resolves names itself and connects to the address that it checked, so a name cannot resolve to another
 * address in between (DNS rebinding).
 */
export class EgressProxy {
  readonly socketPath: string;
  readonly #folder: SocketFolder;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  /** How many connections are being made, some of them for clients that have left. */
  #connecting = 0;
  readonly #allowed: ReadonlySet<string> | "public";
  readonly #publicPort: number | null;
  readonly #answered: AnsweredHost | null;
  readonly #lookup: Lookup;
  readonly #isAllowedAddress: (address: string, host: string) => boolean;
  readonly #onRequest: (host: string, result: EgressResult) => void;

  static async open(options: EgressOptions): Promise<EgressProxy> {
    const folder = await createSocketFolder("egress");
    const proxy = new EgressProxy(folder, options);
    await once(proxy.#server.listen(proxy.socketPath), "listening");
    // Other users cannot enter the folder. The sandbox gets only the socket, and may run as another user.
    await chmod(proxy.socketPath, 0o666);
    return proxy;
  }

  private constructor(folder: SocketFolder, { allow, lookup = lookupAll, ...options }: EgressOptions) {
    const {
      isAllowedAddress = allow === "public" ? isPublic : isReachable,
      onRequest = () => {},
      publicPort = null,
      answered = null,
    } = options;

    this.socketPath = join(folder.path, "proxy.sock");
    this.#folder = folder;
    this.#allowed =
      allow === "public" ? allow : new Set(allow.map((authority) => parseAuthority(authority)?.key ?? ""));
    this.#publicPort = publicPort;
    this.#answered = answered;
    this.#isAllowedAddress = isAllowedAddress;
    this.#onRequest = onRequest;
    this.#lookup = lookup;
    this.#server = createServer((incoming, response) => void this.#forward(incoming, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on("connection", (socket: Socket) => this.#track(socket));
    this.#server.on("connect", (incoming, socket: Duplex, head: Buffer) => void this.#tunnel(incoming, socket, head));
  }

  /** Closes the proxy and all its connections. */
  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#folder[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #tunnel(incoming: IncomingMessage, inside: Duplex, head: Buffer): Promise<void> {
    if (this.#answered !== null && parseAuthority(incoming.url ?? "")?.key === this.#answered.authority) {
      inside.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      inside.unshift(head);
      return void this.#server.emit("connection", inside);
    }
    const outside = await this.#connect(incoming.url ?? "", inside).catch(toProxyError);
    if (outside instanceof ProxyError)
      return void inside.end(`HTTP/1.1 ${outside.status} ${STATUS_CODES[outside.status]}\r\n\r\n`);
    inside.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    outside.write(head);
    inside.pipe(outside).pipe(inside);
    outside.on("close", () => inside.destroy());
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    // Inside of a tunnel, requests have the origin form.
    const url = URL.parse(incoming.url ?? "", this.#answered === null ? undefined : `http://${incoming.headers.host}`);
    const authority = url?.protocol === "http:" ? `${url.hostname}:${url.port || 80}` : "";
    if (authority !== "" && authority === this.#answered?.authority) return this.#answered.answer(incoming, response);
    const outside = await this.#connect(authority, incoming.socket).catch(toProxyError);
    if (outside instanceof ProxyError) return void response.writeHead(outside.status).end(outside.message);
    const headers = { ...endToEndHeaders(incoming.headers), host: url?.host, connection: "close" };
    const path = `${url?.pathname}${url?.search}`;
    const outgoing = request({ method: incoming.method, path, headers, createConnection: () => outside });
    outgoing.on("error", () => response.destroy());
    outgoing.on("response", (reply) => {
      response.writeHead(reply.statusCode ?? 502, endToEndHeaders(reply.headers));
      reply.pipe(response);
      reply.on("error", () => response.destroy());
    });
    response.on("close", () => outside.destroy());
    incoming.pipe(outgoing);
  }

  /**
   * @param client - the connection ends with that of the client
   * @throws {ProxyError}
   */
  async #connect(authority: string, client: Duplex): Promise<Socket> {
    const target = parseAuthority(authority);
    if (!target) throw new ProxyError(403, `${authority} is not an allowed host`);
    if (this.#connecting >= MAX_CONNECTIONS) throw new ProxyError(502, "Too many connections are being made");
    this.#connecting += 1;
    try {
      const socket = await this.#connectTo(target, client);
      this.#onRequest(target.host, "connected");
      return socket;
    } catch (error) {
      this.#onRequest(target.host, error instanceof ProxyError && error.status === 403 ? "refused" : "unreachable");
      throw error;
    } finally {
      this.#connecting -= 1;
    }
  }

  /** @throws {ProxyError} */
  async #connectTo(target: Target, client: Duplex): Promise<Socket> {
    const isListed = this.#allows(target);
    if (!isListed && target.port !== this.#publicPort)
      throw new ProxyError(403, `${target.key} is not an allowed host`);
    const isAllowed = isListed ? this.#isAllowedAddress : isPublic;
    const addresses = await this.#lookup(target.host);
    const reachable = addresses.filter(({ address }) => isAllowed(address, target.host));
    if (reachable.length === 0) throw new ProxyError(502, `${target.key} has no allowed address`);
    // No event would report that a client has left already.
    if (client.destroyed) throw new ProxyError(502, "The client has left");
    return connectTo(target, reachable, (socket) => {
      this.#track(socket);
      endWith(socket, client);
    });
  }

  #allows({ key, port }: Target): boolean {
    return this.#allowed === "public" ? isPublicPort(port) : this.#allowed.has(key);
  }

  #track(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

/** Destroys a connection when that of its client closes. A client has one connection after the other. */
function endWith(socket: Socket, client: Duplex): void {
  const end = (): void => void socket.destroy(new Error("The client has left"));
  client.once("close", end);
  socket.once("close", () => client.off("close", end));
}

/** Why the proxy cannot connect: the host is not allowed (403) or cannot be reached (502). */
class ProxyError extends Error {
  readonly status: 403 | 502;

  constructor(status: 403 | 502, message: string) {
    super(message);
    this.status = status;
  }
}

function toProxyError(error: unknown): ProxyError {
  return error instanceof ProxyError ? error : new ProxyError(502, "Cannot connect to the host");
}

interface Target {
  host: string;
  port: number;
  key: string;
}

/** Parsed as part of a URL, which normalizes a host: its case, numeric addresses and Unicode. */
function parseAuthority(authority: string): Target | null {
  if (!/^[^/?#@\\\s]+:\d{1,5}$/.test(authority) || !URL.canParse(`http://${authority}`)) return null;
  const { hostname, port } = new URL(`http://${authority}`);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(port || 80), key: `${host}:${port || 80}` };
}

/** `Transfer-Encoding` stays: Node frames the body of the forwarded message by it. */
export function endToEndHeaders(headers: IncomingMessage["headers"]): IncomingMessage["headers"] {
  const isForwarded = (name: string) => name === "transfer-encoding" || !HOP_BY_HOP_HEADERS.has(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isForwarded(name)));
}
