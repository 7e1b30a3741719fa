import type { CallOptions, RepeatableCallOptions } from "./call-options.ts";
import type { ProcedureKind } from "./generated/procedures.ts";
import { delay, retryDelayMs } from "./retries.ts";
import { describeForeignResponse, readError, readJson, ServiceError } from "./service-error.ts";

/** Returns a bearer token. `isRejected` means that the service has rejected the token that it returned before. */
export type TokenProvider = (state: { isRejected: boolean }) => string | Promise<string>;

export interface ClientOptions {
  /** The URL of the service, such as `https://apps.example.com`. */
  url: string;
  /** An API key, a personal access token or an access token, or a function that returns one. */
  token: string | TokenProvider;
  /** The id of the organization, for a token of a user who is a member of several. */
  organization?: string;
  /** How often a failed call is repeated at most, if that is safe. By default 2. */
  maxRetries?: number;
  /** The time for one attempt, in milliseconds. By default 100,000. */
  timeoutMs?: number;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

const DEFAULT_RETRIES = 2;
/** Longer than a program of `service_execute` may run. In milliseconds. */
const DEFAULT_TIMEOUT_MS = 100_000;
/** As long as the service accepts the body of a file, and some time to store it. In milliseconds. */
const UPLOAD_TIMEOUT_MS = 660_000;

interface RequestSettings {
  path: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  /** A function opens the body of each attempt. */
  body?: string | (() => Blob | ReadableStream<Uint8Array>);
  /** Whether the request may be repeated when it is unknown whether the service has executed it. */
  isSafe: boolean;
  maxRetries: number | undefined;
  signal: AbortSignal | undefined;
  /** `null` for a stream, which has no end. */
  timeoutMs: number | null;
}

/** A file that is sent as the body of a request. */
interface Upload {
  /** Opens the body of each attempt. */
  body: () => Blob | ReadableStream<Uint8Array>;
  contentType: string;
  headers?: Record<string, string>;
}

/** Sends requests to the service, and repeats those that are safe to repeat. */
export class Transport {
  readonly #base: string;
  readonly #options: ClientOptions;
  readonly #fetch: typeof fetch;

  /** @throws {TypeError} for an invalid URL or token */
  constructor(options: ClientOptions) {
    this.#base = toBaseUrl(options.url);
    if (options.token === "") throw new TypeError("token: must not be empty");
    this.#options = options;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Calls a procedure. @throws {ServiceError} */
  async call(
    procedure: string,
    kind: ProcedureKind,
    input: unknown,
    options: RepeatableCallOptions = {},
  ): Promise<unknown> {
    const json = JSON.stringify(input ?? {});
    const isQuery = kind === "query";
    const headers: Record<string, string> = isQuery ? {} : { "content-type": "application/json" };
    if (kind === "repeatable") headers["idempotency-key"] = options.idempotencyKey ?? crypto.randomUUID();
    const request: RequestSettings = {
      path: `/trpc/${procedure}${isQuery ? `?input=${encodeURIComponent(json)}` : ""}`,
      method: isQuery ? "GET" : "POST",
      headers,
      ...(isQuery ? {} : { body: json }),
      isSafe: kind !== "mutation",
      maxRetries: options.maxRetries,
      signal: options.signal,
      timeoutMs: options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    };
    return this.#repeat(request, async (response) => {
      const body: { result?: { data?: unknown } } | null = await readJson(response);
      if (body?.result === undefined) throw this.#foreignResponse(response);
      return body.result.data;
    });
  }

  /** Opens a stream of server-sent events; `null` when it has ended already. @throws {ServiceError} */
  async openStream(
    path: string,
    lastEventId: string | null,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array> | null> {
    const headers = { accept: "text/event-stream", ...(lastEventId === null ? {} : { "last-event-id": lastEventId }) };
    const request = {
      path,
      method: "GET",
      headers,
      isSafe: true,
      maxRetries: undefined,
      signal,
      timeoutMs: null,
    } as const;
    return this.#repeat(request, async (response) => {
      if (response.status === 204) return null;
      if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true)
        throw this.#foreignResponse(response);
      return response.body;
    });
  }

  /**
   * Sends a file as the body of a REST request that is safe to repeat, and returns the JSON of the response.
   *
   * @throws {ServiceError}
   */
  async upload(
    path: string,
    { body, contentType, headers = {} }: Upload,
    { signal, timeoutMs, maxRetries }: CallOptions,
  ): Promise<unknown> {
    const request: RequestSettings = {
      path,
      method: "POST",
      headers: { ...headers, "content-type": contentType },
      body,
      isSafe: true,
      maxRetries,
      signal,
      timeoutMs: timeoutMs ?? UPLOAD_TIMEOUT_MS,
    };
    return this.#repeat(request, async (response) => {
      const json = await readJson(response);
      if (json === null) throw this.#foreignResponse(response);
      return json;
    });
  }

  /** Sends JSON to a REST operation that is safe to repeat, and returns the file of the response. @throws {ServiceError} */
  async download(
    path: string,
    input: object,
    { signal, maxRetries }: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const request: RequestSettings = {
      path,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(input),
      isSafe: true,
      maxRetries,
      signal,
      timeoutMs: null,
    };
    return this.#repeat(request, async (response) => {
      if (response.body === null || response.headers.get("content-type")?.startsWith("application/gzip") !== true)
        throw this.#foreignResponse(response);
      return response.body;
    });
  }

  async #repeat<T>(request: RequestSettings, read: (response: Response) => Promise<T>): Promise<T> {
    const maxRetries = request.maxRetries ?? this.#options.maxRetries ?? DEFAULT_RETRIES;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#attempt(request, read);
      } catch (error) {
        const wait = attempt < maxRetries ? retryDelayMs(error, attempt, request.isSafe) : null;
        if (wait === null) throw error;
        await delay(wait, request.signal);
      }
    }
  }

  /** Sends the request once, and once more if its token was rejected and can be replaced. */
  async #attempt<T>(request: RequestSettings, read: (response: Response) => Promise<T>): Promise<T> {
    const timeout = request.timeoutMs === null ? null : AbortSignal.timeout(request.timeoutMs);
    const signals = [request.signal, timeout].filter((signal) => signal != null);
    const signal = AbortSignal.any(signals);
    try {
      let response = await this.#send(request, signal, false);
      if (response.status === 401 && typeof this.#options.token === "function") {
        await response.body?.cancel();
        response = await this.#send(request, signal, true);
      }
      if (!response.ok) throw await readError(response, this.#base);
      return await read(response);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      request.signal?.throwIfAborted();
      if (timeout?.aborted === true) throw this.#timeoutError(request.timeoutMs ?? 0);
      throw this.#networkError(error);
    }
  }

  async #send({ path, method, headers, body }: RequestSettings, signal: AbortSignal, isRejected: boolean) {
    const { token, organization } = this.#options;
    const bearer = typeof token === "string" ? token : await this.#provideToken(token, isRejected);
    // The error of `fetch` would contain the token.
    if (!/^[\x21-\x7e]+$/.test(bearer)) throw new ServiceError("unauthenticated", MALFORMED_TOKEN);
    return this.#fetch(`${this.#base}${path}`, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${bearer}`,
        ...(organization === undefined ? {} : { "x-service-org-id": organization }),
      },
      ...(typeof body === "string" && { body }),
      // A stream as the body needs `duplex`, which not all types of `fetch` have.
      ...(typeof body === "function" && ({ body: body(), duplex: "half" } as RequestInit)),
      // The service redirects no call, so a redirect leads to another site, such as the sign-in page of a proxy.
      redirect: "manual",
      credentials: "omit",
      signal,
    });
  }

  async #provideToken(provide: TokenProvider, isRejected: boolean): Promise<string> {
    try {
      return await provide({ isRejected });
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError("unauthenticated", `No token: ${(error as Error).message}`, { cause: error });
    }
  }

  #foreignResponse(response: Response): ServiceError {
    const message = describeForeignResponse(response, this.#base);
    return new ServiceError("invalid_response", message, { status: response.status });
  }

  #timeoutError(timeoutMs: number): ServiceError {
    return new ServiceError("timeout", `${this.#base} did not respond within ${timeoutMs / 1000} s.`);
  }

  #networkError(error: unknown): ServiceError {
    const message = `Cannot reach ${this.#base}: ${describeNetworkError(error)}. Check the URL and the network.`;
    return new ServiceError("network", message, { cause: error });
  }
}

/** @throws {TypeError} */
function toBaseUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new TypeError(`url: must be an absolute http or https URL, such as https://apps.example.com. It is ${url}`);
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, "");
}

const MALFORMED_TOKEN = "The token contains a character that no token has, such as a line break. Copy it again.";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection broke off",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be resolved",
  UND_ERR_SOCKET: "the connection broke off",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
};

/** Node has the reason in `cause`. Browsers tell none. */
export function describeNetworkError(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } } | null)?.cause;
  return REASONS[cause?.code ?? ""] ?? cause?.code ?? (error as Error).message;
}
