import type { IncomingMessage } from "node:http";
import { isPublicPort } from "./public-address.ts";
import { type PublicHttpsOptions, RefusedUrl, requestPublicHttps } from "./public-https.ts";

export interface RemoteFetcherOptions extends PublicHttpsOptions {
  /** The port of hosts that name none. */
  defaultPort?: number;
}

export interface RemoteRequest {
  method: "GET" | "HEAD";
  headers?: Readonly<Record<string, string>>;
  /** A credential, for URLs of this origin only. */
  credential?: { origin: string; authorization: string } | null;
  /** Whether the request is conditional, so that the status 304 is a response too. */
  isConditional?: boolean;
  signal?: AbortSignal;
}

/** A file that cannot be fetched, with the reason as part of a sentence. */
export class RemoteFailure extends Error {
  override readonly name = "RemoteFailure";
  /** The status of the response; `null` if there is none. */
  readonly status: number | null;

  constructor(reason: string, status: number | null = null, options?: ErrorOptions) {
    super(reason, options);
    this.status = status;
  }
}

const MAX_REDIRECTS = 5;
/** The time until a host must begin to respond, and the longest pause in its response. */
const TIMEOUT_MS = 30_000;
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS = { "accept-encoding": "identity", "user-agent": "app-provisioning-service" };

/**
 * Fetches over https from public hosts that an untrusted party names. A redirect must lead to another public https URL. It sends a
 * credential to its origin only.
 */
export class RemoteFetcher {
  readonly #options: RemoteFetcherOptions;

  constructor(options: RemoteFetcherOptions = {}) {
    this.#options = options;
  }

  /** Returns the response with status 200, or with 304 to a conditional request. @throws {RemoteFailure} */
  async fetch(url: URL, wanted: RemoteRequest): Promise<IncomingMessage> {
    let current = url;
    for (let count = 0; count <= MAX_REDIRECTS; count++) {
      const response = await this.#send(current, wanted);
      const { statusCode = 0 } = response;
      if (statusCode === 200 || (statusCode === 304 && wanted.isConditional === true)) return response;
      response.destroy();
      const target = isRedirect(statusCode) ? URL.parse(response.headers.location ?? "", current.href) : null;
      if (target === null) throw new RemoteFailure(`${current.host} responded with status ${statusCode}`, statusCode);
      current = target;
    }
    throw new RemoteFailure(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
  }

  async #send(url: URL, { method, headers, credential, signal }: RemoteRequest): Promise<IncomingMessage> {
    const { defaultPort = 443, ...options } = this.#options;
    const authorization = credential?.origin === url.origin ? { authorization: credential.authorization } : {};
    const wanted = {
      method,
      headers: { ...HEADERS, ...headers, ...authorization },
      maxHeaderBytes: MAX_HEADER_BYTES,
      port: url.port === "" ? defaultPort : Number(url.port),
      timeoutMs: TIMEOUT_MS,
      resolving: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal === undefined ? [] : [signal])]),
      ...(signal !== undefined && { signal }),
    };
    return requestPublicHttps(url, wanted, { isAllowedPort: isPublicPort, ...options }).catch((error: unknown) => {
      throw describeFailure(url, error);
    });
  }
}

function describeFailure({ protocol, host, hostname, port }: URL, cause: unknown): RemoteFailure {
  if (!(cause instanceof RefusedUrl)) return new RemoteFailure(`${host} does not respond over https`, null, { cause });
  if (cause.reason === "url") return new RemoteFailure(`${protocol}//${hostname} is not an https URL with a host name`);
  if (cause.reason === "port") return new RemoteFailure(`the port ${port} is not allowed`);
  return new RemoteFailure(`${hostname} has no public address`);
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}
