import type { IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";
import { isIP } from "node:net";
import type { Lookup } from "../../sandbox/connect-to-host.ts";
import { isPublic, isPublicPort } from "../../sandbox/public-address.ts";
import { resolveAddresses } from "../../sandbox/resolve-addresses.ts";

export interface RemoteFetcherOptions {
  /** Resolves a host name. By default it queries the name servers of the machine and ignores `/etc/hosts`. */
  lookup?: Lookup;
  /** Whether an address may be connected to. By default only addresses of the public internet are. */
  isAllowedAddress?: (address: string) => boolean;
  /** Certificates of trusted authorities in PEM, instead of those that Node.js trusts. */
  trustedCertificates?: string;
  /** The port of hosts that name none. */
  defaultPort?: number;
}

export interface RemoteRequest {
  method: "GET" | "HEAD";
  headers?: Readonly<Record<string, string>>;
  /** A credential, for URLs of this origin only. */
  credential?: { origin: string; authorization: string } | null;
}

/** A file outside of the registry that cannot be fetched, with the reason as part of a sentence. */
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
 * Fetches over https from hosts that an untrusted party names. It resolves host names itself and connects to the same public
 * addresses that it checked, so that a name cannot resolve to another address in between (DNS rebinding). A redirect must
 * lead to another public https URL. It sends a credential to its origin only, and no cookie.
 */
export class RemoteFetcher {
  readonly #options: RemoteFetcherOptions;

  constructor(options: RemoteFetcherOptions = {}) {
    this.#options = options;
  }

  /** Returns the response with status 200. @throws {RemoteFailure} */
  async fetch(url: URL, wanted: RemoteRequest): Promise<IncomingMessage> {
    let current = url;
    for (let count = 0; count <= MAX_REDIRECTS; count++) {
      const response = await this.#send(current, wanted);
      const { statusCode = 0 } = response;
      if (statusCode === 200) return response;
      response.destroy();
      const target = isRedirect(statusCode) ? URL.parse(response.headers.location ?? "", current.href) : null;
      if (target === null) throw new RemoteFailure(`${current.host} responded with status ${statusCode}`, statusCode);
      current = target;
    }
    throw new RemoteFailure(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
  }

  async #send(url: URL, { method, headers, credential }: RemoteRequest): Promise<IncomingMessage> {
    const { defaultPort = 443, trustedCertificates: ca } = this.#options;
    const port = url.port === "" ? defaultPort : Number(url.port);
    const addresses = await this.#resolve(url);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    // The types lack `autoSelectFamily`, which Node.js passes on to the socket.
    const options: RequestOptions & { autoSelectFamily: boolean } = {
      method,
      headers: {
        ...HEADERS,
        ...headers,
        ...(credential?.origin === url.origin && { authorization: credential.authorization }),
      },
      port,
      agent: false,
      servername: url.hostname,
      rejectUnauthorized: true,
      maxHeaderSize: MAX_HEADER_BYTES,
      autoSelectFamily: true,
      timeout: TIMEOUT_MS,
      ...(ca !== undefined && { ca }),
      lookup: (_host, _options, done) => done(null, [...addresses]),
    };
    const outgoing = request(url, options);
    outgoing
      .on("timeout", () => outgoing.destroy(new Error("The host did not respond in time")))
      .on("response", resolve)
      .on("error", reject)
      .on("close", () => reject(new Error("The connection was closed without a response")));
    outgoing.end();
    return promise.catch((cause: unknown) => {
      throw new RemoteFailure(`${url.host} does not respond over https`, null, { cause });
    });
  }

  async #resolve({ protocol, hostname, port }: URL): Promise<Awaited<ReturnType<Lookup>>> {
    // For an address instead of a name, Node.js skips the lookup, and thereby the check of the address.
    if (protocol !== "https:" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0)
      throw new RemoteFailure(`${protocol}//${hostname} is not an https URL with a host name`);
    if (port !== "" && !isPublicPort(Number(port))) throw new RemoteFailure(`the port ${port} is not allowed`);
    const { lookup = null, isAllowedAddress = isPublic } = this.#options;
    const resolved = await resolveAddresses(hostname, lookup, AbortSignal.timeout(TIMEOUT_MS)).catch(() => []);
    const allowed = resolved.filter(({ address }) => isAllowedAddress(address));
    if (allowed.length === 0) throw new RemoteFailure(`${hostname} has no public address`);
    return allowed;
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}
