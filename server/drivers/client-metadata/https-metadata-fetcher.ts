import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import CachePolicy from "http-cache-semantics";
import {
  type ClientMetadataDocument,
  type ClientMetadataFetcher,
  UnreadableClientMetadata,
} from "../../ports/client-metadata.ts";
import { type PublicHttpsOptions, RefusedUrl, requestPublicHttps } from "../../sandbox/public-https.ts";
import { readMetadata } from "./read-metadata.ts";

export interface HttpsMetadataFetcherOptions extends PublicHttpsOptions {
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

/** Fetches documents over https from public hosts. It sends no cookie and no credential. */
export class HttpsMetadataFetcher implements ClientMetadataFetcher {
  readonly #options: PublicHttpsOptions;
  readonly #timeoutMs: number;
  readonly #probeUrls: readonly string[];

  constructor(options: HttpsMetadataFetcherOptions = {}) {
    this.#options = options;
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

  #sendRequest(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const wanted = { headers: HEADERS, maxHeaderBytes: MAX_HEADER_BYTES, resolving: signal, signal };
    return requestPublicHttps(url, wanted, this.#options).catch((error: unknown) => {
      const refusal = error instanceof RefusedUrl ? REFUSALS[error.reason] : undefined;
      throw refusal === undefined ? error : new UnreadableClientMetadata(refusal);
    });
  }
}

/** Other failures to reach the host are described by the time that is left. */
const REFUSALS: Readonly<Partial<Record<RefusedUrl["reason"], string>>> = {
  url: "its address is not an https URL with a host name",
  address: "its host has no public address",
};

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
