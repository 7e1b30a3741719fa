import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { AuthEntries } from "../../../../domain/ports/auth-entries.ts";
import { appTokenIn, isTokenOf } from "./verify-app-token.ts";
import type { EdgeLog } from "../edge-log.ts";
import type { TrustsPeer } from "../../../http/client-address.ts";
import { forward, forwardUpgrade, responseOn } from "./forward-request.ts";
import { EdgeError, refuse } from "./edge-error.ts";
import { readRequestId } from "../../../http/request-id.ts";
import { hasBody, type ForwardedIdentity } from "./proxy-headers.ts";
import { type Scheme, clientInfoOf } from "./client-info.ts";
import type { Lease } from "../supervisor/running-app.ts";
import { AppUnavailable, type Supervisor } from "../supervisor/supervisor.ts";

interface Parts {
  apps: Pick<Supervisor, "acquire" | "appIdAt">;
  entries: AuthEntries;
  log: EdgeLog;
  trusts: TrustsPeer | null;
  /** How visitors reach the apps, unless a trusted proxy says otherwise. */
  scheme: Scheme;
}

const HEADERS_TIMEOUT_MS = 15_000;
/** Also a large upload over a slow line has to end. */
const REQUEST_TIMEOUT_MS = 10 * 60_000;
const MAX_HEADER_BYTES = 32_768;
const NO_APP = "There is no app at this address.";

/** The HTTP server in front of all deployed apps: finds the app by its host name, judges the app token, and proxies. */
export class EdgeProxy {
  readonly #parts: Parts;
  readonly #server: http.Server;
  /** Sockets that became WebSockets; the server no longer knows them. */
  readonly #upgraded = new Set<Duplex>();
  #domain = "localhost";

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#server = http.createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: 5_000,
        keepAliveTimeout: 65_000,
        maxHeaderSize: MAX_HEADER_BYTES,
        // Any other protocol is not switched to; the request is answered as if it had not asked.
        shouldUpgradeCallback: (request) =>
          request.headers.upgrade?.toLowerCase() === "websocket" && request.method === "GET" && !hasBody(request),
      },
      (request, response) => void this.#serve(request, response),
    );
    this.#server.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  /**
   * Starts to answer.
   *
   * @param domain - the domain below which apps live, such as `localhost`, without port
   * @returns the port that was bound
   */
  async listen(port: number, host: string, domain: string): Promise<number> {
    this.#domain = domain.toLowerCase();
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen(port, host, () => resolve());
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Takes no more requests, lets those in flight finish for up to `graceMs`, and cuts the rest. */
  async close(graceMs: number): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    const tidy = setInterval(() => this.#server.closeIdleConnections(), 50);
    const cut = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    // A WebSocket has no end to wait for.
    for (const socket of this.#upgraded) socket.destroy();
    await closed;
    clearTimeout(cut);
    clearInterval(tidy);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { lease, identity } = await this.#admit(request);
      if (response.destroyed) return lease.release();
      forward(request, response, lease, identity);
    } catch (error) {
      refuse(response, this.#refusalFor(error, request));
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#upgraded.add(socket);
    socket.on("error", () => socket.destroy()).once("close", () => this.#upgraded.delete(socket));
    try {
      const { lease, identity } = await this.#admit(request);
      if (socket.destroyed) return lease.release();
      forwardUpgrade(request, socket, head, lease, identity);
    } catch (error) {
      refuse(responseOn(request, socket), this.#refusalFor(error, request));
    }
  }

  /**
   * The way to the app, and what the app is told about the request.
   *
   * @throws {EdgeError}
   * @throws {AppUnavailable}
   */
  async #admit(request: IncomingMessage): Promise<{ lease: Lease; identity: ForwardedIdentity }> {
    if (!request.url?.startsWith("/")) throw new EdgeError(400, "The request target must be a path.");
    // Node takes the first and the app might take another one (RFC 9112, section 3.2).
    if (hostCount(request) !== 1) throw new EdgeError(400, "The request must have one Host.");
    const slug = this.#slugOf(request.headers.host);
    if (slug === null) throw new EdgeError(404, NO_APP);
    const verified = await this.#verify(slug, request.headers.authorization);
    const lease = await this.#parts.apps.acquire(slug);
    if (!lease) throw new EdgeError(404, NO_APP);
    const clientInfo = clientInfoOf(request, this.#parts.trusts, this.#parts.scheme);
    return { lease, identity: { verified, requestId: readRequestId(request), clientInfo } };
  }

  /** Whether the request brings the app's token. Judged before the app is started, so that a wrong one cannot start it. */
  async #verify(slug: string, authorization: string | undefined): Promise<boolean> {
    const token = appTokenIn(authorization);
    const appId = token === null ? null : await this.#parts.apps.appIdAt(slug);
    if (token === null || appId === null) return false;
    if (await isTokenOf(this.#parts.entries, appId, token)) return true;
    throw new EdgeError(401, "The app token is not valid for this app.", {
      "www-authenticate": 'Bearer error="invalid_token"',
    });
  }

  #refusalFor(error: unknown, request: IncomingMessage): EdgeError {
    if (error instanceof EdgeError) return error;
    if (error instanceof AppUnavailable)
      return new EdgeError(503, error.message, { "retry-after": String(error.retryAfterSeconds) });
    this.#parts.log.warn({ host: request.headers.host, err: error }, "request to an app failed");
    return new EdgeError(500, "Something went wrong on our side.");
  }

  /** `my-app` for `my-app.localhost:3001`; `null` for a host that is not directly below the domain. */
  #slugOf(host: string | undefined): string | null {
    const name = host?.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
    const suffix = `.${this.#domain}`;
    if (!name?.endsWith(suffix)) return null;
    const slug = name.slice(0, -suffix.length);
    return slug.includes(".") ? null : slug;
  }
}

/** Counted by hand: `headersDistinct` would sort every header of every request for it. */
function hostCount({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === "host") count++;
  return count;
}
