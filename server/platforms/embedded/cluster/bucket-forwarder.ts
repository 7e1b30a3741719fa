import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { finished, pipeline } from "node:stream/promises";
import { BucketError } from "./bucket-error.ts";
import { HeldDeletions } from "./deletion-hold.ts";
import { type ForwardedRequest, readRequest, readTarget } from "./forwarded-request.ts";
import { isFolder } from "./object-key.ts";
import { formatError, formatListedPage, parseError } from "./s3-documents.ts";
import { accessDenied, S3Refusal } from "./s3-refusal.ts";
import type { SharedBucket } from "./shared-bucket.ts";
import { readBody } from "../../../http/read-body.ts";
import { readSignature, verifySignature } from "./verify-signature.ts";

/** Credentials for one prefix of the bucket, until their disposal. */
export interface BucketGrant extends Disposable {
  /** The URL of the forwarder. */
  endpoint: string;
  bucketName: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Receives reports about requests that failed and were not refused. pino's logger is one. */
interface ForwarderLog {
  warn(fields: object, message: string): void;
}

interface Grant {
  prefix: string;
  secretAccessKey: string;
  /** Ends the requests in progress. */
  revocation: AbortController;
  requests: number;
}

/** What clients call the bucket. */
const BUCKET_NAME = "apps";
const MAX_ERROR_BYTES = 64 * 1024;
/** One client cannot use all connections to the store. */
const MAX_REQUESTS_PER_GRANT = 128;
/** For a body of the largest size. */
const REQUEST_TIMEOUT_MS = 60 * 60_000;
const IDLE_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 2048;
const RESPONSE_HEADERS =
  /^(?:etag|content-length|content-type|content-range|accept-ranges|last-modified|retry-after|x-amz-(?:meta|checksum)-.+)$/;

/**
 * Gives clients on this machine access to parts of the bucket, with credentials of their own, so that the credentials of the
 * bucket stay in this process. It passes on reads, writes and deletions of single objects, and lists; it signs what it parsed.
 */
export class BucketForwarder implements AsyncDisposable {
  readonly #bucket: SharedBucket;
  readonly #log: ForwarderLog;
  readonly #deletions: HeldDeletions;
  readonly #server: Server;
  /** By access key ID. */
  readonly #grants = new Map<string, Grant>();

  /** Listens on a free port of loopback. */
  static async listen(bucket: SharedBucket, log: ForwarderLog): Promise<BucketForwarder> {
    const forwarder = new BucketForwarder(bucket, log);
    forwarder.#server.listen(0, "127.0.0.1");
    await once(forwarder.#server, "listening");
    return forwarder;
  }

  private constructor(bucket: SharedBucket, log: ForwarderLog) {
    this.#bucket = bucket;
    this.#log = log;
    this.#deletions = new HeldDeletions(bucket);
    const options = {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
    };
    this.#server = createServer(options, (request, response) => void this.#respond(request, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.timeout = IDLE_TIMEOUT_MS;
  }

  /**
   * Creates credentials for the objects whose keys begin with `prefix`.
   *
   * @param prefix - a path that ends in `/`, below the prefix of the bucket; the keys of the client begin with it too
   */
  grant(prefix: string): BucketGrant {
    if (prefix === "" || !isFolder(prefix)) throw new Error(`Invalid prefix: ${JSON.stringify(prefix.slice(0, 200))}`);
    const accessKeyId = `APP${randomBytes(12).toString("hex").toUpperCase()}`;
    const secretAccessKey = randomBytes(32).toString("base64url");
    const revocation = new AbortController();
    this.#grants.set(accessKeyId, { prefix, secretAccessKey, revocation, requests: 0 });
    return {
      endpoint: `http://${this.#host}`,
      bucketName: BUCKET_NAME,
      accessKeyId,
      secretAccessKey,
      [Symbol.dispose]: () => {
        this.#grants.delete(accessKeyId);
        revocation.abort();
      },
    };
  }

  /** Ends all requests. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { revocation } of this.#grants.values()) revocation.abort();
    this.#grants.clear();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  get #host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#authorizeAndForward(request, response);
    } catch (error) {
      if (response.headersSent || response.destroyed) return void response.destroy();
      const { status, code, message } = toRefusal(error);
      if (status >= 500) this.#log.warn({ err: error }, "a request of an app to the object store failed");
      // A body that is still on its way is not read.
      if (!request.complete) response.setHeader("connection", "close");
      respondXml(request, response, status, formatError(code, message));
    }
  }

  async #authorizeAndForward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    if (headers.host !== this.#host) throw accessDenied("The header Host is not that of the endpoint.");
    const target = readTarget(url, BUCKET_NAME);
    const signature = readSignature(headers);
    const grant = this.#grants.get(signature.accessKeyId);
    if (grant === undefined) throw new S3Refusal(403, "InvalidAccessKeyId", "The access key ID does not exist.");
    await verifySignature(signature, grant.secretAccessKey, { ...target, method, headers });
    const forwarded = readRequest(method, target, headers, grant.prefix);
    if (grant.requests >= MAX_REQUESTS_PER_GRANT)
      throw new S3Refusal(503, "SlowDown", "These credentials have too many requests in progress.");
    grant.requests++;
    try {
      await this.#forward(forwarded, grant.revocation.signal, request, response);
    } catch (error) {
      // A client that is still sending the body may read the response only afterwards.
      await finished(request.resume(), { writable: false }).catch(() => undefined);
      throw error;
    } finally {
      grant.requests--;
    }
  }

  async #forward(
    forwarded: ForwardedRequest,
    revocation: AbortSignal,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const disconnection = new AbortController();
    response.once("close", () => disconnection.abort());
    const signal = AbortSignal.any([revocation, disconnection.signal]);
    signal.throwIfAborted();
    if (forwarded.kind === "list") {
      const page = await this.#bucket.listPage(forwarded.query, signal);
      return respondXml(request, response, 200, formatListedPage(BUCKET_NAME, forwarded.query, page));
    }
    const { method, key, headers } = forwarded;
    if (method === "DELETE" && (await this.#deletions.hold(key))) return void response.writeHead(204).end();
    const reply = await this.#bucket.send({ method, key, headers, signal, ...(method === "PUT" && { body: request }) });
    const status = reply.statusCode ?? 500;
    if (status >= 300 && status !== 304) throw await toStoreError(reply);
    const passed = Object.entries(reply.headers).filter(([name]) => RESPONSE_HEADERS.test(name));
    response.writeHead(status, Object.fromEntries(passed));
    await pipeline(reply, response);
  }
}

async function toStoreError(reply: IncomingMessage): Promise<S3Refusal> {
  const bytes = await readBody(reply, MAX_ERROR_BYTES).catch(() => null);
  return refusedByStore(reply.statusCode ?? 500, parseError(bytes?.toString() ?? "").code);
}

/** The text of the store is not passed on, because it can have keys outside the prefix, and the access key ID. */
function refusedByStore(status: number, code: string): S3Refusal {
  if (status < 400) return new S3Refusal(502, "InternalError", "The object store sent a redirect.");
  // workerd repeats a request after 503, and gives up after any other error of the server.
  if (status >= 500) return new S3Refusal(503, code || "ServiceUnavailable", "The object store failed.");
  return new S3Refusal(status, code || "InvalidRequest", "The object store refused the request.");
}

function toRefusal(error: unknown): S3Refusal {
  if (error instanceof S3Refusal) return error;
  if (error instanceof BucketError && error.status !== null) return refusedByStore(error.status, error.code);
  if (error instanceof BucketError)
    return new S3Refusal(503, "ServiceUnavailable", "The object store does not respond.");
  if ((error as Error).name === "AbortError") return accessDenied("The credentials are revoked.");
  return new S3Refusal(500, "InternalError", "The request failed.");
}

function respondXml(request: IncomingMessage, response: ServerResponse, status: number, xml: string): void {
  const body = Buffer.from(xml);
  response.writeHead(status, { "content-type": "application/xml", "content-length": body.length });
  response.end(request.method === "HEAD" ? undefined : body);
}
