import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** After so long without any transfer, a connection counts as stalled while the server stops. In milliseconds. */
const STALLED_MS = 1500;
const IDLE_CHECK_MS = 50;
/** A client sends its first request soon after it has connected. In milliseconds. */
const FIRST_REQUEST_MS = 300;

/** The connections of the clients of one service, which may listen on several addresses. */
export class ClientConnections {
  readonly #servers = new Set<Server>();
  /** When each connection was opened. */
  readonly #sockets = new Map<Socket, number>();
  /** The response to the last request of each connection. */
  readonly #responses = new WeakMap<Socket, ServerResponse>();
  readonly #draining: AbortSignal | null;

  /** @param draining - once it is aborted, each connection closes after its next response */
  constructor(draining: AbortSignal | null = null) {
    this.#draining = draining;
  }

  /**
   * Prepares the connections that `server` accepts. Node reads the address of the peer on first use and then keeps it. It has
   * none to read when the connection is closed, so it is read here, for `request.ip`. A closed connection is dropped.
   */
  prepare(server: Server): Server {
    this.#servers.add(server);
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      // A client that is told `Connection: close` sends its next request on another connection, which leads elsewhere.
      if (this.#draining?.aborted === true) response.shouldKeepAlive = false;
      this.#responses.set(socket, response);
    });
    return server.on("connection", (socket: Socket) => {
      if (socket.remoteAddress === undefined) return void socket.destroy();
      lingerOnClose(socket);
      this.#sockets.set(socket, performance.now());
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /**
   * Closes the connections on which no request was sent, such as those that browsers open in advance. Node does not count them
   * as idle: a server that stops would wait for them for a minute. A new connection gets a moment for its first request.
   */
  closeUnused(): void {
    for (const [socket, openedAt] of this.#sockets) {
      // A process that is late reads first what has arrived meanwhile: timers are due before input, `setImmediate` after it.
      const closeIfUnused = (): void => {
        setImmediate(() => {
          if (socket.bytesRead === 0) socket.destroy();
        });
      };
      const remainingMs = openedAt + FIRST_REQUEST_MS - performance.now();
      if (remainingMs > 0) setTimeout(closeIfUnused, remainingMs).unref();
      else closeIfUnused();
    }
  }

  /**
   * Closes each connection as soon as it is idle or stalled, until the servers have closed. Otherwise a suspended client that
   * reads no response, or sends half a request, would delay the stop. A request that waits for its response is not affected.
   */
  closeStalled(): void {
    for (const server of this.#servers) {
      // Node closes idle connections once, when the server begins to close, and not those that become idle later.
      const timer = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS).unref();
      server.once("close", () => clearInterval(timer));
      // Also for requests that still arrive on open connections.
      server.timeout = STALLED_MS;
      server.on("timeout", (socket: Socket) => this.#closeUnlessWaiting(socket));
    }
    for (const socket of this.#sockets.keys()) socket.setTimeout(STALLED_MS);
  }

  #closeUnlessWaiting(socket: Socket): void {
    const response = this.#responses.get(socket);
    const isWaiting = response !== undefined && response.req.complete && !response.headersSent;
    if (isWaiting) socket.setTimeout(STALLED_MS);
    else socket.destroy();
  }
}

/**
 * How long a client may take to send the rest of its request, to read the response and to close its side of the connection, and
 * how long it may send nothing meanwhile. In milliseconds.
 */
const LINGER_MS = 30_000;
const LINGER_IDLE_MS = 2000;

/**
 * Lets a client read a response that was sent before its request arrived completely, such as 413 to a large body.
 *
 * Node calls `destroySoon` after the last response of a connection. It closes the connection at once, and the system
 * resets a connection that is closed while data arrives: many clients then lose the response. Here, only the server's side
 * is closed, and what the client still sends is discarded, until the client closes its side too (RFC 9112, section 9.6).
 */
function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    if (socket.destroyed) return;
    socket.end();
    const total = setTimeout(() => socket.destroy(), LINGER_MS);
    const idle = setTimeout(() => socket.destroy(), LINGER_IDLE_MS);
    // Further requests on the connection must not be parsed any more.
    const discardInput = () => void socket.removeAllListeners("data").on("data", () => idle.refresh());
    // Node's parser pauses a connection while nothing reads the body, and resumes it only as long as it is attached.
    if (socket.isPaused()) socket.once("resume", discardInput).resume();
    else discardInput();
    socket.once("close", () => [total, idle].forEach(clearTimeout));
  };
}
