import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { connect as connectTls, getCACertificates } from "node:tls";
import { connectTo, type Lookup } from "./connect-to-host.ts";

export interface HostRequest {
  url: URL;
  method: string;
  headers: OutgoingHttpHeaders;
  /** Which addresses the host may have. */
  isAllowedAddress: (address: string, host: string) => boolean;
  lookup: Lookup;
  /** The body; without it, the request has none. */
  body?: Readable;
  /** Ends the request and its response. */
  signal: AbortSignal;
}

/**
 * Sends a request with HTTP or HTTPS to a host. It resolves the host name itself and connects to the same addresses that it checked, so
 * that a name cannot resolve to another address in between (DNS rebinding). It follows no redirect, and trusts the certificate
 * authorities of the machine too.
 *
 * @throws when the host has no allowed address, or does not respond
 */
export async function requestHost(wanted: HostRequest): Promise<IncomingMessage> {
  const { url, method, headers, body, signal } = wanted;
  signal.throwIfAborted();
  const socket = await connect(wanted);
  const isTls = url.protocol === "https:";
  const outgoing = (isTls ? requestHttps : requestHttp)({
    method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, connection: "close" },
    createConnection: () => (isTls ? startTls(socket, url.hostname) : socket),
    signal,
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on("response", resolve);
    outgoing.on("error", reject);
  });
  if (body === undefined) outgoing.end();
  else body.pipe(outgoing);
  return response;
}

async function connect({ url, lookup, isAllowedAddress, signal }: HostRequest): Promise<Socket> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const known = isIP(host) === 0 ? await lookup(host) : [{ address: host, family: isIP(host) }];
  const addresses = known.filter(({ address }) => isAllowedAddress(address, host));
  if (addresses.length === 0) throw new Error("The host has no allowed address");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const socket = await connectTo({ host, port }, addresses);
  socket.on("error", () => socket.destroy());
  const end = (): void => void socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", end));
  return socket;
}

function startTls(socket: Socket, hostname: string): Socket {
  trusted ??= [...getCACertificates("default"), ...getCACertificates("system")];
  return connectTls({ socket, ca: trusted, ...(isIP(hostname) === 0 && { servername: hostname }) });
}

/** Reading them takes 50 ms. */
let trusted: string[] | undefined;
