import { createHash } from "node:crypto";
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { limitConnectTime } from "../../../http/connect-timeout.ts";
import { readBody } from "../../../http/read-body.ts";
import { BucketError } from "./bucket-error.ts";
import { encodeKey, encodeQuery } from "./object-key.ts";
import { parseError } from "./s3-documents.ts";
import { type BucketCredentials, signRequest, UNSIGNED_PAYLOAD } from "./sign-request.ts";

/** The bucket that all processes of an installation share. */
export interface BucketSettings extends BucketCredentials {
  endpoint: string;
  bucket: string;
  region: string;
  /** What all keys begin with: empty, or a path that ends in `/`. */
  prefix: string;
}

export interface BucketLimits {
  /** The longest pause before and in a response. */
  idleTimeoutMs: number;
  /** How often a request is sent at most. */
  attempts: number;
  /** The longest pause before the first repetition. It doubles with each further one. */
  backOffMs: number;
}

export interface BucketRequest {
  method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** An object; without it, the request is one for the bucket. */
  key?: string;
  query?: Readonly<Record<string, string>>;
  /** With lower-case names. A stream needs `content-length`. */
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | Readable;
  signal?: AbortSignal | undefined;
}

/** What an object must be for a write to have an effect: the one of an ETag, or absent. */
export type WriteCondition = { ifMatch: string } | { ifNoneMatch: "*" };

const MAX_ERROR_BYTES = 64 * 1024;
/** A connection closes before the server closes it, so that no request is sent on one that is being closed. */
const UNUSED_CONNECTION_MS = 4000;
const MAX_CONNECTIONS = 256;

/** Sends signed requests to one bucket with path-style URLs. It keeps connections open, and follows no redirect. */
export class BucketClient implements Disposable {
  readonly #settings: BucketSettings;
  readonly #limits: BucketLimits;
  readonly #endpoint: URL;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(settings: BucketSettings, limits: BucketLimits) {
    this.#settings = settings;
    this.#limits = limits;
    this.#endpoint = new URL(settings.endpoint);
    const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: UNUSED_CONNECTION_MS };
    this.#agent = this.#endpoint.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /**
   * Sends one request, once. The caller reads the body of the response, or destroys it.
   *
   * @returns the response, whatever its status is
   * @throws {BucketError} when there is no response
   */
  async send(request: BucketRequest): Promise<IncomingMessage> {
    const { method, key, query = {}, body, signal } = request;
    const base = this.#endpoint.pathname.replace(/\/+$/, "");
    const path = `${base}/${this.#settings.bucket}${key === undefined ? "" : `/${encodeKey(key)}`}`;
    const headers: Record<string, string> = {
      "x-amz-content-sha256": hashOf(body),
      ...(body instanceof Uint8Array && { "content-length": String(body.length) }),
      ...request.headers,
      host: this.#endpoint.host,
    };
    const signable = { method, path, query, headers };
    const signature = await signRequest(signable, this.#settings, this.#settings.region);
    signal?.throwIfAborted();
    const search = encodeQuery(query);
    const options = {
      method,
      path: search === "" ? path : `${path}?${search}`,
      headers: { ...headers, ...signature },
      agent: this.#agent,
      timeout: this.#limits.idleTimeoutMs,
      ...(signal !== undefined && { signal }),
    };
    try {
      return await this.#respond(options, body);
    } catch (error) {
      signal?.throwIfAborted();
      throw new BucketError(describe(request), { status: null, code: "", reason: (error as Error).message });
    }
  }

  /** Closes the connections. */
  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #respond(options: object, body: Uint8Array | Readable | undefined): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = (this.#endpoint.protocol === "https:" ? requestHttps : requestHttp)(this.#endpoint, options);
    limitConnectTime(outgoing);
    outgoing
      .on("timeout", () => outgoing.destroy(new Error("the server did not respond in time")))
      .on("error", reject)
      .on("response", (response) => {
        // A server that responds before it has the whole body may not read the rest.
        response.once("end", () => outgoing.writableFinished || outgoing.destroy());
        resolve(response);
      })
      .on("close", () => reject(new Error("the connection was closed without a response")));
    if (body === undefined || body instanceof Uint8Array) outgoing.end(body);
    else sendStream(body, outgoing);
    return promise;
  }
}

/** Sends a body. After a failure it is read to its end, because a client may read the response only after it has sent all. */
function sendStream(body: Readable, outgoing: ClientRequest): void {
  body.once("error", (error) => outgoing.destroy(error));
  body.once("close", () => {
    if (!body.readableEnded) outgoing.destroy(new Error("the body is not complete"));
  });
  body.pipe(outgoing);
  outgoing.once("close", () => body.unpipe(outgoing).resume());
}

/** Describes a request for an error message. */
function describe({ method, key, query }: BucketRequest): string {
  return `${method} ${key ?? `a list of ${query?.["prefix"] ?? "objects"}`}`;
}

/** Reads the body of a response that is not the expected one. */
export async function readError(request: BucketRequest, response: IncomingMessage): Promise<BucketError> {
  const bytes = await readBody(response, MAX_ERROR_BYTES).catch(() => null);
  return new BucketError(describe(request), {
    status: response.statusCode ?? null,
    ...parseError(bytes?.toString() ?? ""),
  });
}

function hashOf(body: Uint8Array | Readable | undefined): string {
  if (body !== undefined && !(body instanceof Uint8Array)) return UNSIGNED_PAYLOAD;
  return createHash("sha256")
    .update(body ?? "")
    .digest("hex");
}
