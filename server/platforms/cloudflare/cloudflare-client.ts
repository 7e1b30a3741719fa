import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Counter } from "../../../domain/ports/counter.ts";
import { boundText, CloudflareError, type ReportedError } from "./cloudflare-error.ts";
import { readRateLimit, retryAfterSeconds } from "./rate-limit-headers.ts";

export interface CloudflareClientOptions {
  /** The API without a slash at the end, such as `https://api.cloudflare.com/client/v4`. */
  apiUrl: string;
  accountId: string;
  apiToken: string;
  /** Counts the requests of all processes of the installation. */
  counter: Counter;
  limits?: Partial<ClientLimits>;
  /** Called before each request that changes something. Throws if this process must not change anything. */
  guard?: () => Promise<void>;
}

export interface ClientLimits {
  /** Cloudflare blocks a token for five minutes after 1,200 requests in five minutes. Other tools may use it too. */
  requests: number;
  windowSeconds: number;
  /** How often a request is sent at most. */
  attempts: number;
  /** The pause before the first repetition. Each further one is twice as long. */
  backOffMs: number;
  /** How long one request may wait for its turn, or for `retry-after`, in total. */
  maxWaitMs: number;
  timeoutMs: number;
}

const DEFAULT_LIMITS: ClientLimits = {
  requests: 1000,
  windowSeconds: 300,
  attempts: 5,
  backOffMs: 500,
  maxWaitMs: 6 * 60_000,
  timeoutMs: 60_000,
};

export interface CloudflareRequest {
  /** What the request does, for error messages, such as `create a database`. */
  operation: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the account, with encoded segments. */
  path: string;
  query?: Record<string, string>;
  /** Sent as JSON; a form or a text is sent as it is. */
  body?: unknown;
  /** The token of an upload session, in place of the API token. */
  sessionToken?: string;
  /** `false` for a request whose repetition can fail or do something else. The caller then finds out whether it had an effect. */
  isRepeatable?: boolean;
  /** `true` for a request that changes nothing although its method is not GET. */
  isRead?: boolean;
  signal?: AbortSignal | undefined;
}

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const MAX_ERRORS = 10;
const MAX_PAGES = 1000;
const PAGE_SIZE = 100;

const envelope = z.object({
  result: z.unknown(),
  result_info: z.looseObject({ cursor: z.string().optional() }).nullish(),
});
const failure = z.object({ errors: z.array(z.object({ code: z.number(), message: z.string() })) });

/** Sends requests to Cloudflare's API: within the limit of requests, and again if they can succeed later. */
export class CloudflareClient {
  readonly #options: CloudflareClientOptions;
  readonly #limits: ClientLimits;
  /** Until when Cloudflare accepts no requests, in milliseconds since the epoch. */
  #pausedUntil = 0;

  constructor(options: CloudflareClientOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /**
   * Returns the result of a request.
   *
   * @throws {CloudflareError}
   */
  async call<T>(request: CloudflareRequest, result: z.ZodType<T>): Promise<T> {
    return (await this.callPage(request, result)).result;
  }

  /** Returns the bytes of a response that is no JSON, such as the value of a key. @throws {CloudflareError} */
  async download(request: CloudflareRequest): Promise<Uint8Array> {
    return this.#send(request);
  }

  /** Lists everything that a listing with pages has. @throws {CloudflareError} */
  async listPages<T>(request: CloudflareRequest, result: z.ZodType<T[]>): Promise<T[]> {
    const all: T[] = [];
    for (let page = 1; page <= MAX_PAGES; page++) {
      const query = { ...request.query, page: String(page), per_page: String(PAGE_SIZE) };
      const items = await this.call({ ...request, query }, result);
      all.push(...items);
      if (items.length < PAGE_SIZE) break;
    }
    return all;
  }

  /** Lists everything that a listing with a cursor has. @throws {CloudflareError} */
  async listByCursor<T>(request: CloudflareRequest, result: z.ZodType<T[]>): Promise<T[]> {
    const all: T[] = [];
    let cursor: string | undefined;
    for (let page = 1; page <= MAX_PAGES; page++) {
      const query = { ...request.query, ...(cursor === undefined ? {} : { cursor }) };
      const response = await this.callPage({ ...request, query }, result);
      all.push(...response.result);
      cursor = response.cursor;
      if (cursor === undefined || cursor === "") break;
    }
    return all;
  }

  /** Returns the result of a request, and the cursor of the next page. @throws {CloudflareError} */
  async callPage<T>(
    request: CloudflareRequest,
    schema: z.ZodType<T>,
  ): Promise<{ result: T; cursor?: string | undefined }> {
    const bytes = await this.#send(request);
    const { result, result_info: info } = parseWith(envelope, request.operation, parseJson(bytes));
    return { result: parseWith(schema, request.operation, result), cursor: info?.cursor };
  }

  async #send(request: CloudflareRequest): Promise<Uint8Array> {
    const attempts = request.isRepeatable === false ? 1 : this.#limits.attempts;
    const deadline = Date.now() + this.#limits.maxWaitMs;
    for (let attempt = 1; ; attempt++) {
      await this.#waitForTurn(request, deadline);
      if (request.method !== "GET" && request.isRead !== true) await this.#options.guard?.();
      try {
        return await this.#sendOnce(request);
      } catch (error) {
        if (!(error instanceof CloudflareError) || !error.isTransient || attempt >= attempts) throw error;
        const pauseMs = Math.max(this.#limits.backOffMs * 2 ** (attempt - 1) * (0.5 + Math.random()), this.#pauseMs());
        if (Date.now() + pauseMs > deadline) throw error;
        await sleep(pauseMs, null, { signal: request.signal });
      }
    }
  }

  /** @throws {CloudflareError} when the wait would take too long */
  async #waitForTurn({ operation, signal }: CloudflareRequest, deadline: number): Promise<void> {
    const { accountId, counter } = this.#options;
    const { requests: limit, windowSeconds } = this.#limits;
    for (;;) {
      signal?.throwIfAborted();
      let waitMs = this.#pauseMs();
      if (waitMs === 0) {
        const { allowed, resetSeconds } = await counter.consume({
          key: `cloudflare:${accountId}`,
          limit,
          windowSeconds,
        });
        if (allowed) return;
        waitMs = resetSeconds * 1000;
      }
      if (Date.now() + waitMs > deadline) throw limitReached(operation);
      await sleep(waitMs, null, { signal });
    }
  }

  #pauseMs(): number {
    return Math.max(0, this.#pausedUntil - Date.now());
  }

  async #sendOnce({
    operation,
    method,
    path,
    query,
    body,
    sessionToken,
    signal,
  }: CloudflareRequest): Promise<Uint8Array> {
    const { apiUrl, accountId, apiToken } = this.#options;
    const timeout = AbortSignal.timeout(this.#limits.timeoutMs);
    const search = query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;
    const isPlain = body === undefined || body instanceof FormData || typeof body === "string";
    try {
      const response = await fetch(`${apiUrl}/accounts/${encodeURIComponent(accountId)}/${path}${search}`, {
        method,
        headers: {
          authorization: `Bearer ${sessionToken ?? apiToken}`,
          ...(isPlain ? {} : { "content-type": "application/json" }),
        },
        body: isPlain ? (body ?? null) : JSON.stringify(body),
        redirect: "error",
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      this.#notePause(response);
      const bytes = await readBounded(response);
      if (response.ok) return bytes;
      throw new CloudflareError(operation, response.status, readErrors(bytes));
    } catch (cause) {
      if (cause instanceof CloudflareError) throw cause;
      signal?.throwIfAborted();
      throw new CloudflareError(operation, null, [], { cause });
    }
  }

  #notePause({ status, headers }: Response): void {
    const waits =
      status === 429 ? retryAfterSeconds(headers.get("retry-after")) : readRateLimit(headers.get("ratelimit"));
    if (waits > 0) this.#pausedUntil = Math.max(this.#pausedUntil, Date.now() + waits * 1000);
  }
}

function limitReached(operation: string): CloudflareError {
  return new CloudflareError(operation, 429, [
    { code: 0, message: "the limit of requests is reached; try again later" },
  ]);
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) throw new Error("Cloudflare's response is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function readErrors(bytes: Uint8Array): ReportedError[] {
  const parsed = failure.safeParse(parseJson(bytes));
  const errors = parsed.success ? parsed.data.errors.slice(0, MAX_ERRORS) : [];
  return errors.map(({ code, message }) => ({ code, message: boundText(message) }));
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return null;
  }
}

/** @throws {CloudflareError} without the content of the response */
function parseWith<T>(schema: z.ZodType<T>, operation: string, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new CloudflareError(operation, 200, [{ code: 0, message: "the response has an unknown form" }]);
}
