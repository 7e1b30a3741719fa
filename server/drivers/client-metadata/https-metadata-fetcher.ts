import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";
import { isIP } from "node:net";
import CachePolicy from "http-cache-semantics";
import {
  type ClientMetadataDocument,
  type ClientMetadataFetcher,
  UnreadableClientMetadata,
} from "../../ports/client-metadata.ts";
import type { Lookup } from "../../sandbox/connect-to-host.ts";
import { isPublic } from "../../sandbox/public-address.ts";
import { resolveAddresses } from "../../sandbox/resolve-addresses.ts";
import { readMetadata } from "./read-metadata.ts";

export interface HttpsMetadataFetcherOptions {
  /** Resolves a host name. By default it queries the name servers of the machine and ignores `/etc/hosts`. */
  lookup?: Lookup;
  /** Whether an address may be connected to. By default only addresses of the public internet are. */
  isAllowedAddress?: (address: string) => boolean;
  /** Certificates of trusted authorities in PEM, instead of those that Node.js trusts. */
  trustedCertificates?: string;
  /** The time for a whole fetch, from the first DNS query to the last byte. */
  timeoutMs?: number;
  /** The internet can be reached if one of these URLs returns any response. */
  probeUrls?: readonly string[];
}

/** Hosts that most services contact anyway: for repositories and for packages. */
const PROBE_URLS = ["https://github.com/", "https://registry.npmjs.org/"];

const TIMEOUT_MS = 5000;
const MAX_HEADER_BYTES = 8192;
const HEADERS = { accept: "application/json", "accept-encoding": "identity", "user-agent": "app-provisioning-service" };

/**
 * Fetches documents over https. It resolves host names itself and connects to the same addresses that it checked, so
 * that a name cannot resolve to another address in between (DNS rebinding). It sends no cookie and no credential.
 */
export class HttpsMetadataFetcher implements ClientMetadataFetcher {
  readonly #lookup: Lookup | null;
  readonly #isAllowedAddress: (address: string) => boolean;
  readonly #trustedCertificates: string | undefined;
  readonly #timeoutMs: number;
  readonly #probeUrls: readonly string[];

  constructor(options: HttpsMetadataFetcherOptions = {}) {
    this.#lookup = options.lookup ?? null;
    this.#isAllowedAddress = options.isAllowedAddress ?? isPublic;
    this.#trustedCertificates = options.trustedCertificates;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#probeUrls = options.probeUrls ?? PROBE_URLS;
  }

  async fetch(url: string): Promise<ClientMetadataDocument> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await this.#sendRequest(new URL(url), timeout);
      try {
        const members = await readMetadata(response);
        return { members, freshSeconds: getFreshSeconds(response.headers) };
      } finally {
        // After an error nothing more of the response is read.
        response.destroy();
      }
    } catch (error) {
      if (error instanceof UnreadableClientMetadata) throw error;
      const reason = timeout.aborted ? "it did not arrive in time" : "its host does not respond over https";
      throw new UnreadableClientMetadata(reason, { cause: error });
    }
  }

  async canReachInternet(signal: AbortSignal): Promise<boolean> {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]);
    const probe = async (url: string): Promise<void> => void (await this.#sendRequest(new URL(url), ended)).destroy();
    try {
      await Promise.any(this.#probeUrls.map(probe));
      return true;
    } catch {
      return false;
    }
  }

  async #sendRequest(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const { protocol, hostname } = url;
    // For an address instead of a name, Node.js skips the lookup, and thereby the check of the address.
    if (protocol !== "https:" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0)
      throw new UnreadableClientMetadata("its address is not an https URL with a host name");
    const resolved = await resolveAddresses(hostname, this.#lookup, signal);
    const allowed = resolved.filter(({ address }) => this.#isAllowedAddress(address));
    if (allowed.length === 0) throw new UnreadableClientMetadata("its host has no public address");
    // The types lack `autoSelectFamily`, which Node.js passes on to the socket.
    const options: RequestOptions & { autoSelectFamily: boolean } = {
      headers: HEADERS,
      signal,
      agent: false,
      servername: hostname,
      rejectUnauthorized: true,
      maxHeaderSize: MAX_HEADER_BYTES,
      autoSelectFamily: true,
      ...(this.#trustedCertificates !== undefined && { ca: this.#trustedCertificates }),
      lookup: (_host, _options, done) => done(null, [...allowed]),
    };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = request(url, options);
    // A host can also end the connection without an error, for example when it switches protocols unasked.
    outgoing
      .on("error", reject)
      .on("response", resolve)
      .on("close", () => reject(new Error("The connection was closed without a response")));
    outgoing.end();
    return promise;
  }
}

const REQUEST = { method: "GET", headers: {} };
/** Directives that say how long a response stays fresh, or that it never is. */
const FRESHNESS_DIRECTIVES = ["max-age", "s-maxage", "no-cache", "no-store"] as const;

/**
 * Returns how long a response stays fresh in a shared cache, by its headers (RFC 9111), in whole seconds. 0 means that
 * it must be requested again each time.
 *
 * @returns `null` when the headers do not say how long
 */
export function getFreshSeconds(headers: IncomingHttpHeaders): number | null {
  // The library expects directives in lower case. HTTP allows any case.
  const cacheControl = headers["cache-control"]?.toLowerCase();
  const policy = new CachePolicy(REQUEST, { status: 200, headers: { ...headers, "cache-control": cacheControl } });
  const { rescc: directives } = policy.toObject();
  const isExplicit = FRESHNESS_DIRECTIVES.some((name) => Object.hasOwn(directives, name));
  if (!isExplicit && headers.expires === undefined) return null;
  return Math.max(0, Math.round(policy.maxAge() - policy.age()));
}
