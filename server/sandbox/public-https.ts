import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import type { Lookup } from "./connect-to-host.ts";
import { isPublic } from "./public-address.ts";
import { NoAllowedAddress, requestHost } from "./request-host.ts";
import { resolveAddresses } from "./resolve-addresses.ts";

export interface PublicHttpsOptions {
  /** Resolves a host name. By default it queries the name servers of the machine and ignores `/etc/hosts`. */
  lookup?: Lookup | undefined;
  /** Whether an address may be connected to. By default only addresses of the public internet are. */
  isAllowedAddress?: ((address: string) => boolean) | undefined;
  /** Which ports a URL may name; by default all. */
  isAllowedPort?: ((port: number) => boolean) | undefined;
  /** Certificates of trusted authorities in PEM, instead of those that Node.js trusts. */
  trustedCertificates?: string | undefined;
}

export interface PublicHttpsRequest {
  method?: "GET" | "HEAD";
  headers: OutgoingHttpHeaders;
  maxHeaderBytes: number;
  /** By default that of the URL, or 443. */
  port?: number;
  /** The time until the host must begin to respond, and the longest pause in its response; no limit by default. */
  timeoutMs?: number;
  /** Ends the resolution of the name. */
  resolving: AbortSignal;
  /** Ends the request and its response. */
  signal?: AbortSignal;
}

/** `resolution`: the name could not be resolved. `address`: it has no allowed address. */
type Refusal = "url" | "port" | "resolution" | "address";

const REFUSALS: Readonly<Record<Refusal, string>> = {
  url: "The URL is not an https URL with a host name",
  port: "The port of the URL is not allowed",
  resolution: "The name of the host could not be resolved",
  address: "The host has no public address",
};

/** Nothing was sent to the URL. */
export class RefusedUrl extends Error {
  override readonly name = "RefusedUrl";
  readonly reason: Refusal;

  constructor(reason: Refusal, options?: ErrorOptions) {
    super(REFUSALS[reason], options);
    this.reason = reason;
  }
}

/**
 * Sends a request to a host with a name and a public address, over HTTPS only. See `requestHost`.
 *
 * @throws {RefusedUrl}
 */
export async function requestPublicHttps(
  url: URL,
  { method = "GET", resolving, ...wanted }: PublicHttpsRequest,
  { lookup, isAllowedAddress = isPublic, isAllowedPort, trustedCertificates }: PublicHttpsOptions,
): Promise<IncomingMessage> {
  if (url.protocol !== "https:" || isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0) throw new RefusedUrl("url");
  if (url.port !== "" && isAllowedPort?.(Number(url.port)) === false) throw new RefusedUrl("port");
  const resolve = (host: string) =>
    resolveAddresses(host, lookup ?? null, resolving).catch((cause: unknown) => {
      throw new RefusedUrl("resolution", { cause });
    });
  const request = { ...wanted, url, method, lookup: resolve, isAllowedAddress, trustedCertificates };
  return requestHost(request).catch((error: unknown) => {
    throw error instanceof NoAllowedAddress ? new RefusedUrl("address") : error;
  });
}
