import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuthEntries } from "../../../../domain/ports/auth-entries.ts";
import { INTERNAL_ERROR } from "../../../../domain/shared/errors.ts";
import { clientNetwork, type TrustsPeer } from "../../../http/client-address.ts";
import { hasValidPort, INVALID_PORT, readSlug } from "../../../http/edge/app-host.ts";
import { INVALID_APP_TOKEN, INVALID_TOKEN_HEADERS, NO_APP } from "../../../http/edge/error-body.ts";
import { readAppToken, verifyAppToken } from "../../../http/edge/verify-app-token.ts";
import { INVALID_HOST, namesOneHost } from "../../../http/host-header.ts";
import { ClientConnections } from "../../../http/client-connections.ts";
import { readRequestId } from "../../../http/request-id.ts";
import type { AcquiredApp } from "../supervisor/running-app.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import type { PlatformLog } from "../supervisor/supervisor-options.ts";
import { AppRestricted, AppUnavailable } from "../supervisor/unavailable-app.ts";
import { readClientInfo, type Scheme } from "./client-info.ts";
import { EdgeError, sendError } from "./edge-error.ts";
import { connectToEdge, type EdgeForwarding } from "./edge-forwarding.ts";
import { forwardRequest, forwardUpgrade, responseOn } from "./forward-request.ts";
import { OpenRequests, type RequestLimits } from "./open-requests.ts";
import { type ForwardingContext, hasBody } from "./proxy-headers.ts";

export interface EdgeProxyOptions {
  apps: Pick<Supervisor, "acquire" | "appIdAt">;
  entries: AuthEntries;
  log: PlatformLog;
  trusts: TrustsPeer | null;
  /** The scheme of the apps' URLs. A trusted proxy may name another one for a request. */
  scheme: Scheme;
  limits: RequestLimits;
  /** Forwards requests between edges; `null` if there is one edge. */
  edges: EdgeForwarding | null;
  /** Once it is aborted, each connection closes after its next response. */
  draining?: AbortSignal | undefined;
  /** Called for each request that an app gets. */
  onRequest?: ((appId: string) => void) | undefined;
  /** Called for each of these requests whose response has a status of 500 or more. */
  onServerError?: ((appId: string) => void) | undefined;
}

const HEADERS_TIMEOUT_MS = 15_000;
/** Enough for a large upload over a slow connection. */
const REQUEST_TIMEOUT_MS = 10 * 60_000;
/** After this time without data, the kernel asks the client whether it still has the connection. */
const TCP_KEEP_ALIVE_MS = 60_000;
const MAX_HEADER_BYTES = 32_768;
/** Longer than the lease of an edge that has ended. */
const UNREACHABLE_EDGE_MS = 30_000;
const CONNECT_PAUSE_MS = 500;

/** The HTTP server in front of all apps. It finds the app by the host name, verifies the app token and forwards. */
export class EdgeProxy {
  readonly #options: EdgeProxyOptions;
  readonly #server: http.Server;
  /** The sockets that became WebSockets. The server does not track them any more. */
  readonly #upgraded = new Set<Duplex>();
  readonly #connections: ClientConnections;
  readonly #openRequests: OpenRequests;
  #port = 0;
  #domain = "localhost";

  constructor(options: EdgeProxyOptions) {
    this.#options = options;
    this.#openRequests = new OpenRequests(options.limits);
    this.#connections = new ClientConnections(options.draining);
    this.#server = http.createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: 5_000,
        keepAliveTimeout: 65_000,
        // A client that is gone without closing its connection would otherwise keep the app running.
        keepAlive: true,
        keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
        maxHeaderSize: MAX_HEADER_BYTES,
        // A request for any other protocol is served as a request without an upgrade.
        shouldUpgradeCallback: (request) =>
          request.headers.upgrade?.toLowerCase() === "websocket" && request.method === "GET" && !hasBody(request),
      },
      (request, response) => void this.#serve(request, response),
    );
    this.#connections.prepare(this.#server);
    this.#server.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  /**
   * Starts to listen.
   *
   * @param domain - the domain of all apps, such as `localhost`, without port
   * @returns the port
   */
  async listen(port: number, host: string, domain: string): Promise<number> {
    this.#domain = domain.toLowerCase();
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen(port, host, () => resolve());
    });
    this.#port = (this.#server.address() as AddressInfo).port;
    return this.#port;
  }

  /** The port on which it listens or has listened; before that, 0. */
  get port(): number {
    return this.#port;
  }

  /**
   * Stops listening, waits up to `graceMs` for requests in flight, and closes the remaining connections. Closes connections on
   * which a response has stalled earlier.
   */
  async close(graceMs: number): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#connections.closeUnused();
    this.#connections.closeStalled();
    const closeAll = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    // A WebSocket would not end within the grace period.
    for (const socket of this.#upgraded) socket.destroy();
    await closed;
    clearTimeout(closeAll);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { app, context } = await this.#acquireApp(request, response);
      if (response.destroyed) return app.release();
      response.once("close", () => {
        if (app.isOtherEdge !== true && response.statusCode >= 500) this.#options.onServerError?.(app.appId);
      });
      forwardRequest(request, response, app, context);
    } catch (error) {
      sendError(response, this.#toEdgeError(error, request));
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#upgraded.add(socket);
    socket.on("error", () => socket.destroy()).once("close", () => this.#upgraded.delete(socket));
    try {
      const { app, context } = await this.#acquireApp(request, socket);
      if (socket.destroyed) return app.release();
      forwardUpgrade(request, socket, head, app, context);
    } catch (error) {
      sendError(responseOn(request, socket), this.#toEdgeError(error, request));
    }
  }

  /**
   * Returns the app of a request, and the context in which it is forwarded. The request counts towards the limits of
   * the app until `exchange` closes.
   *
   * @throws {EdgeError}
   * @throws {AppUnavailable}
   * @throws {AppRestricted}
   */
  async #acquireApp(
    request: IncomingMessage,
    exchange: ServerResponse | Duplex,
  ): Promise<{ app: AcquiredApp; context: ForwardingContext }> {
    if (!request.url?.startsWith("/")) throw new EdgeError(400, "The request target must be a path.");
    if (request.headers.host === undefined || !namesOneHost(request)) throw new EdgeError(400, INVALID_HOST);
    const slug = readSlug(request.headers.host, this.#domain);
    if (slug === null) throw new EdgeError(404, NO_APP);
    if (!hasValidPort(request.headers.host)) throw new EdgeError(400, INVALID_PORT);
    const { edges, trusts, scheme } = this.#options;
    const forwarded = edges?.read(request) ?? null;
    const clientInfo = forwarded ?? readClientInfo(request, trusts, scheme);
    // Counted before the first wait, so that requests for an app that starts are limited too.
    const network = clientNetwork(clientInfo.address);
    this.#openRequests.add(slug, network);
    exchange.once("close", () => this.#openRequests.remove(slug, network));
    const verified = await this.#hasValidToken(slug, request.headers.authorization);
    const app = await this.#reachApp(slug, verified, forwarded !== null);
    if (!app) throw new EdgeError(404, NO_APP);
    const context = { verified, requestId: readRequestId(request), clientInfo, appsDomain: this.#domain };
    // The other edge counts the request.
    if (app.isOtherEdge === true)
      return { app, context: { ...context, edgeHeader: edges?.header(request, clientInfo) } };
    this.#options.onRequest?.(app.appId);
    return { app, context };
  }

  /**
   * Acquires an app. If another edge runs it and does not accept connections, waits until it does, or until this edge may start
   * the app.
   */
  async #reachApp(slug: string, verified: boolean, isForwarded: boolean): Promise<AcquiredApp | null> {
    const deadline = performance.now() + UNREACHABLE_EDGE_MS;
    for (;;) {
      const app = await this.#options.apps.acquire(slug, verified, isForwarded);
      if (app?.isOtherEdge !== true || !("host" in app.address)) return app;
      const connection = await connectToEdge(app.address);
      if (connection !== null) return { ...app, connection, release: () => void connection.destroy() };
      if (performance.now() > deadline) throw new AppUnavailable("The edge that runs the app cannot be reached.", 5);
      await sleep(CONNECT_PAUSE_MS);
    }
  }

  /** Whether the request has the app's token. Checked before the start of the app, so an invalid token starts nothing. */
  async #hasValidToken(slug: string, authorization: string | undefined): Promise<boolean> {
    const token = readAppToken(authorization);
    const appId = token === null ? null : await this.#options.apps.appIdAt(slug);
    if (token === null || appId === null) return false;
    if (await verifyAppToken(this.#options.entries, appId, token)) return true;
    throw new EdgeError(401, INVALID_APP_TOKEN, INVALID_TOKEN_HEADERS);
  }

  #toEdgeError(error: unknown, request: IncomingMessage): EdgeError {
    if (error instanceof EdgeError) return error;
    if (error instanceof AppRestricted) return new EdgeError(507, error.message);
    if (error instanceof AppUnavailable)
      return new EdgeError(503, error.message, { "retry-after": String(error.retryAfterSeconds) });
    const requestId = readRequestId(request);
    this.#options.log.warn({ host: request.headers.host, requestId, err: error }, "request to an app failed");
    return new EdgeError(500, INTERNAL_ERROR, { "x-request-id": requestId });
  }
}
