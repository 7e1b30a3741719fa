import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { HOP_BY_HOP_HEADERS } from "../http/hop-by-hop-headers.ts";
import { isReachable } from "./public-address.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 256;

/** All addresses of a host name. */
export type Lookup = (host: string) => Promise<readonly { address: string; family: number }[]>;

export interface EgressOptions {
  /** The `host:port` pairs that may be reached; everything else is answered with 403. */
  allow: readonly string[];
  lookup?: Lookup;
}

/**
 * An HTTP proxy on a unix socket, for the commands of a sandbox: `CONNECT` and absolute-form requests, to allowed hosts
 * only. It resolves names itself and connects to the very address it checked, so a name cannot change its meaning in
 * between (DNS rebinding); see `isReachable` for the addresses.
 */
export class EgressProxy {
  readonly socketPath: string;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #allowed: ReadonlySet<string>;
  readonly #lookup: Lookup;

  static async open(options: EgressOptions): Promise<EgressProxy> {
    // A folder of its own under a short path: a unix socket's path has at most 107 bytes.
    const folder = await mkdtemp(join(tmpdir(), "egress-"));
    const proxy = new EgressProxy(join(folder, "proxy.sock"), options);
    await once(proxy.#server.listen(proxy.socketPath), "listening");
    // The folder keeps others out; the sandbox, which is given the socket alone, may be another user.
    await chmod(proxy.socketPath, 0o666);
    return proxy;
  }

  private constructor(socketPath: string, { allow, lookup = lookupAll }: EgressOptions) {
    this.socketPath = socketPath;
    this.#allowed = new Set(allow.map((authority) => parseAuthority(authority)?.key ?? ""));
    this.#lookup = lookup;
    this.#server = createServer((incoming, response) => void this.#forward(incoming, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on("connection", (socket: Socket) => this.#track(socket));
    this.#server.on("connect", (incoming, socket: Duplex, head: Buffer) => void this.#tunnel(incoming, socket, head));
  }

  /** Cuts every connection. */
  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await rm(join(this.socketPath, ".."), { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #tunnel(incoming: IncomingMessage, inside: Duplex, head: Buffer): Promise<void> {
    const outside = await this.#dial(incoming.url ?? "").catch(asRefusal);
    if (outside instanceof Refused)
      return void inside.end(`HTTP/1.1 ${outside.status} ${STATUS_CODES[outside.status]}\r\n\r\n`);
    inside.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    outside.write(head);
    inside.pipe(outside).pipe(inside);
    inside.on("close", () => outside.destroy());
    outside.on("close", () => inside.destroy());
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.canParse(incoming.url ?? "") ? new URL(incoming.url ?? "") : null;
    const authority = url?.protocol === "http:" ? `${url.hostname}:${url.port || 80}` : "";
    const outside = await this.#dial(authority).catch(asRefusal);
    if (outside instanceof Refused) return void response.writeHead(outside.status).end(outside.message);
    const headers = { ...endToEndHeaders(incoming.headers), host: url?.host, connection: "close" };
    const path = `${url?.pathname}${url?.search}`;
    const outgoing = request({ method: incoming.method, path, headers, createConnection: () => outside });
    outgoing.on("error", () => response.destroy());
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEndHeaders(answer.headers));
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    response.on("close", () => outside.destroy());
    incoming.pipe(outgoing);
  }

  /** @throws {Refused} */
  async #dial(authority: string): Promise<Socket> {
    const target = parseAuthority(authority);
    if (!target || !this.#allowed.has(target.key)) throw new Refused(403, `${authority} is not an allowed host`);
    const addresses = await this.#lookup(target.host);
    const reachable = addresses.filter(({ address }) => isReachable(address, target.host));
    if (reachable.length === 0) throw new Refused(502, `${authority} has no address that may be reached`);
    const socket = connect({
      ...{ host: target.host, port: target.port, autoSelectFamily: true },
      // Connecting resolves nothing again: it is given the addresses that were checked.
      lookup: (_host, _options, found) => found(null, [...reachable]),
    });
    this.#track(socket);
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) }).catch((error: unknown) => {
      socket.destroy();
      throw error;
    });
    return socket;
  }

  #track(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

/** Why there is no connection: 403 because the host is not allowed, 502 because it is not there to be reached. */
class Refused extends Error {
  readonly status: 403 | 502;

  constructor(status: 403 | 502, message: string) {
    super(message);
    this.status = status;
  }
}

function asRefusal(error: unknown): Refused {
  return error instanceof Refused ? error : new Refused(502, "The host does not answer");
}

/** Parsing it as part of a URL gives every spelling of a host one form: case, numeric addresses, Unicode. */
function parseAuthority(authority: string): { host: string; port: number; key: string } | null {
  if (!/^[^/?#@\\\s]+:\d{1,5}$/.test(authority) || !URL.canParse(`http://${authority}`)) return null;
  const { hostname, port } = new URL(`http://${authority}`);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(port || 80), key: `${host}:${port || 80}` };
}

function lookupAll(host: string): ReturnType<Lookup> {
  return lookup(host, { all: true });
}

/** `Transfer-Encoding` stays: Node frames the body of the forwarded message by it. */
function endToEndHeaders(headers: IncomingMessage["headers"]): IncomingMessage["headers"] {
  const isForwarded = (name: string) => name === "transfer-encoding" || !HOP_BY_HOP_HEADERS.has(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isForwarded(name)));
}
