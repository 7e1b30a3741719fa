import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import type { HostAddress, Lookup } from "./connect-to-host.ts";

export interface HostRequest {
  url: URL;
  method: string;
  headers: OutgoingHttpHeaders;
  /** Which addresses the host may have. */
  isAllowedAddress: (address: string, host: string) => boolean;
  lookup: Lookup;
  /** The body; without it, the request has none. */
  body?: Readable;
  /** By default that of the URL, or of its protocol. */
  port?: number | undefined;
  maxHeaderBytes?: number;
  /** The time until the host must begin to respond, and the longest pause in its response; no limit by default. */
  timeoutMs?: number | undefined;
  /** Certificates of trusted authorities in PEM; by default those that Node.js trusts, and those of the machine. */
  trustedCertificates?: string | undefined;
  /** Ends the request and its response. */
  signal?: AbortSignal | undefined;
}

/** The host has no address to which the service connects. */
export class NoAllowedAddress extends Error {
  override readonly name = "NoAllowedAddress";
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Sends a request with HTTP or HTTPS to a host that an untrusted party names. It resolves the host name itself and connects to the
 * same addresses that it checked, so that a name cannot resolve to another address in between (DNS rebinding). It follows no
 * redirect, and sends no cookie and no credential but those in `headers`.
 *
 * @throws {NoAllowedAddress}
 * @throws when the host does not respond
 */
export async function requestHost(wanted: HostRequest): Promise<IncomingMessage> {
  wanted.signal?.throwIfAborted();
  const addresses = await findAddresses(wanted);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = send(wanted, addresses);
  const connecting = setTimeout(
    () => outgoing.destroy(new Error("The host does not accept the connection in time")),
    CONNECT_TIMEOUT_MS,
  );
  outgoing.on("socket", (socket) => socket.once("connect", () => clearTimeout(connecting)));
  // A host can also end the connection without an error, for example when it switches protocols unasked.
  outgoing
    .on("timeout", () => outgoing.destroy(new Error("The host did not respond in time")))
    .on("error", reject)
    .on("response", resolve)
    .on("close", () => {
      clearTimeout(connecting);
      reject(new Error("The connection was closed without a response"));
    });
  if (wanted.body === undefined) outgoing.end();
  else wanted.body.pipe(outgoing);
  return promise;
}

async function findAddresses({ url, lookup, isAllowedAddress }: HostRequest): Promise<HostAddress[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const known = isIP(host) === 0 ? await lookup(host) : [{ address: host, family: isIP(host) }];
  const addresses = known.filter(({ address }) => isAllowedAddress(address, host));
  if (addresses.length === 0) throw new NoAllowedAddress("The host has no allowed address");
  return addresses;
}

function send(
  { url, method, headers, port, maxHeaderBytes, timeoutMs, trustedCertificates: ca, signal }: HostRequest,
  addresses: readonly HostAddress[],
) {
  const options = {
    method,
    headers,
    agent: false,
    autoSelectFamily: true,
    // Node.js does not call it for an address in place of a name, which `findAddresses` has checked.
    lookup: (_host: string, _options: object, done: (error: null, found: HostAddress[]) => void) =>
      done(null, [...addresses]),
    ...(port !== undefined && { port }),
    ...(maxHeaderBytes !== undefined && { maxHeaderSize: maxHeaderBytes }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(signal !== undefined && { signal }),
  };
  if (url.protocol !== "https:") return requestHttp(url, options);
  return requestHttps(url, { ...options, ...(ca === undefined ? { secureContext: trustMachine() } : { ca }) });
}

/** Reading the certificates takes 50 ms. */
let machineContext: SecureContext | undefined;

function trustMachine(): SecureContext {
  machineContext ??= createSecureContext({ ca: [...getCACertificates("default"), ...getCACertificates("system")] });
  return machineContext;
}
