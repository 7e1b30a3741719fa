import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EmulatedRuntime } from "./emulated-runtime.ts";
import { ApiError, type Reply, type RouteRequest } from "./api-reply.ts";
import { EmulatedAccount } from "./emulated-account.ts";

const ACCOUNT_ID = "0123456789abcdef0123456789abcdef";
export const API_TOKEN = "token-of-the-test";
const NAMESPACE = "apps";

export interface RecordedRequest {
  method: string;
  /** Below the account. */
  path: string;
  contentType: string;
  /** The parts of a form; `null` for any other body. */
  form: FormData | null;
}

interface HeldRequest {
  /** Resolves when the request has arrived. */
  held: Promise<void>;
  release(): void;
}

/** How a request fails: refused before it has an effect, or the response is lost after the effect. */
export type Fault = { status: 429 | 500 | 503; retryAfter?: number } | "lost response";

/** Emulates the part of Cloudflare that the service uses. Unknown routes and invalid tokens fail the test. */
export class CloudflareEmulator implements AsyncDisposable {
  readonly account: EmulatedAccount;
  readonly runtime: EmulatedRuntime;
  readonly requests: RecordedRequest[] = [];
  /** Requests that Cloudflare would not understand. */
  readonly problems: string[] = [];
  #hold: ((request: { method: string; path: string }) => Promise<void> | undefined) | null = null;
  #fault: ((request: { method: string; path: string }) => Fault | null) | null = null;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  /** One request at a time, so that a test is the same each time. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ runsScripts = true }: { runsScripts?: boolean } = {}) {
    this.account = new EmulatedAccount();
    this.runtime = new EmulatedRuntime(this.account.state, runsScripts);
    this.account.runtime = this.runtime;
  }

  /** @param options.runsScripts - `false` for tests of the API only */
  static async open(options: { runsScripts?: boolean } = {}): Promise<CloudflareEmulator> {
    const emulator = new CloudflareEmulator(options);
    await emulator.runtime.open();
    await once(emulator.#server.listen(0, "127.0.0.1"), "listening");
    return emulator;
  }

  /** The settings of a service that uses the emulator. */
  get settings() {
    const apiUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/client/v4`;
    return { apiUrl, accountId: ACCOUNT_ID, apiToken: API_TOKEN, namespace: NAMESPACE };
  }

  /** The domain of apps, with the port at which they respond. */
  get appsDomain(): string {
    return `localhost:${this.runtime.port}`;
  }

  /** Lets requests fail for which `select` returns how; `null` ends it. */
  failRequests(select: ((request: { method: string; path: string }) => Fault | null) | null): void {
    this.#fault = select;
  }

  /** Lets the first request to each path with each method fail. */
  failFirstOfEach(fault: Fault): void {
    const seen = new Set<string>();
    this.failRequests(({ method, path }) => {
      const key = `${method} ${path}`;
      if (seen.has(key)) return null;
      seen.add(key);
      return fault;
    });
  }

  /** Delays the first request that `select` chooses until it is released. Other requests overtake it. */
  holdRequest(select: (request: { method: string; path: string }) => boolean): HeldRequest {
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    let isHolding = false;
    this.#hold = (request) => {
      if (isHolding || !select(request)) return undefined;
      isHolding = true;
      held.resolve();
      return released.promise;
    };
    return { held: held.promise, release: () => released.resolve() };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    await this.#hold?.({ method: request.method ?? "GET", path: pathOf(request) });
    const turn = this.#turn.then(() => this.#respond(request, Buffer.concat(chunks), response));
    this.#turn = turn.catch(() => {});
    await turn;
  }

  async #respond(request: IncomingMessage, body: Buffer<ArrayBuffer>, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://emulator");
    const path = pathOf(request);
    const method = request.method ?? "GET";
    const contentType = request.headers["content-type"] ?? "";
    const form = contentType.startsWith("multipart/form-data") ? await parseForm(body, contentType) : null;
    this.requests.push({ method, path, contentType, form });
    const fault = this.#fault?.({ method, path }) ?? null;
    if (fault !== null && fault !== "lost response") {
      const headers: Record<string, string> =
        fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) };
      return send(response, failure(fault.status, 10000, "on demand"), headers);
    }
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const routed: RouteRequest = {
      method,
      path,
      search: url.search,
      query: url.searchParams,
      body,
      form,
      contentType,
      token,
      origin: new URL(this.settings.apiUrl).origin,
    };
    const reply = await this.#route(routed);
    if (fault === "lost response") return void response.destroy();
    send(response, reply);
  }

  async #route(request: RouteRequest): Promise<Reply> {
    try {
      if (!this.account.acceptsToken(request, API_TOKEN)) {
        this.problems.push(`invalid token: ${request.method} ${request.path}`);
        return failure(403, 10000, "Authentication error");
      }
      const reply = await this.account.handle(request);
      if (reply !== null) return reply;
      this.problems.push(`unknown route: ${request.method} ${request.path}`);
      return failure(404, 7003, "Could not route");
    } catch (error) {
      if (error instanceof ApiError) return failure(error.status, error.code, error.message);
      this.problems.push(`${request.method} ${request.path}: ${error instanceof Error ? error.stack : String(error)}`);
      return failure(500, 1, "emulator failed");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.runtime[Symbol.asyncDispose]();
    if (this.problems.length > 0) throw new Error(`The emulator got invalid requests:\n${this.problems.join("\n")}`);
  }
}

/** Below the account. */
function pathOf({ url = "/" }: IncomingMessage): string {
  const { pathname } = new URL(url, "http://emulator");
  const prefix = `/client/v4/accounts/${ACCOUNT_ID}/`;
  return pathname.startsWith(prefix) ? pathname.slice(prefix.length) : pathname;
}

function parseForm(body: Buffer<ArrayBuffer>, contentType: string): Promise<FormData> {
  return new Response(body, { headers: { "content-type": contentType } }).formData();
}

function failure(status: number, code: number, message: string): Reply {
  return { status, json: { success: false, errors: [{ code, message }], messages: [], result: null } };
}

function send(
  response: ServerResponse,
  { status, json, bytes, ...reply }: Reply,
  headers: Record<string, string> = {},
): void {
  const type = json === undefined ? "application/octet-stream" : "application/json";
  response.writeHead(status, { "content-type": type, ...reply.headers, ...headers });
  response.end(json === undefined ? bytes : JSON.stringify(json));
}
