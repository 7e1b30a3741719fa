import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { request, type RequestOptions } from "node:https";
import { isIP } from "node:net";
import type { Lookup } from "./connect-to-host.ts";
import { isPublic } from "./public-address.ts";
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
 * Sends a request to a host that an untrusted party names. It resolves the host name itself and connects to the same addresses that
 * it checked, so that a name cannot resolve to another address in between (DNS rebinding). It follows no redirect, and
 * sends no cookie and no credential but those in `headers`.
 *
 * @throws {RefusedUrl}
 */
export async function requestPublicHttps(
  url: URL,
  { method = "GET", headers, maxHeaderBytes, port, timeoutMs, resolving, signal }: PublicHttpsRequest,
  { lookup, isAllowedAddress = isPublic, isAllowedPort, trustedCertificates: ca }: PublicHttpsOptions,
): Promise<IncomingMessage> {
  const { protocol, hostname } = url;
  // For an address instead of a name, Node.js skips the lookup, and thereby the check of the address.
  if (protocol !== "https:" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) throw new RefusedUrl("url");
  if (url.port !== "" && isAllowedPort?.(Number(url.port)) === false) throw new RefusedUrl("port");
  const resolved = await resolveAddresses(hostname, lookup ?? null, resolving).catch((cause: unknown) => {
    throw new RefusedUrl("resolution", { cause });
  });
  const allowed = resolved.filter(({ address }) => isAllowedAddress(address));
  if (allowed.length === 0) throw new RefusedUrl("address");
  // The types lack `autoSelectFamily`, which Node.js passes on to the socket.
  const options: RequestOptions & { autoSelectFamily: boolean } = {
    method,
    headers,
    agent: false,
    servername: hostname,
    rejectUnauthorized: true,
    maxHeaderSize: maxHeaderBytes,
    autoSelectFamily: true,
    ...(port !== undefined && { port }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(signal !== undefined && { signal }),
    ...(ca !== undefined && { ca }),
    lookup: (_host, _options, done) => done(null, [...allowed]),
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = request(url, options);
  // A host can also end the connection without an error, for example when it switches protocols unasked.
  outgoing
    .on("timeout", () => outgoing.destroy(new Error("The host did not respond in time")))
    .on("error", reject)
    .on("response", resolve)
    .on("close", () => reject(new Error("The connection was closed without a response")));
  outgoing.end();
  return promise;
}
