import type { IncomingMessage } from "node:http";
import { normalizeIP } from "@better-auth/core/utils/ip";
import proxyAddr from "@fastify/proxy-addr";

/** The header in which the HTTP server passes the client address to better-auth. It replaces a header that a client sends. */
export const CLIENT_ADDRESS_HEADER = "x-client-address";

/** Whether the peer at an address is a reverse proxy of the operator, so that its `X-Forwarded-For` is believed. */
export type TrustsPeer = (address: string, hop: number) => boolean;

/**
 * Compiles the trusted proxies.
 *
 * @param ranges - addresses and CIDR ranges, in the syntax of `TRUSTED_PROXIES`
 * @returns `null` without any range, so that no request pays for reading forwarding headers
 */
export function trustedPeers(ranges: readonly string[]): TrustsPeer | null {
  return ranges.length === 0 ? null : proxyAddr.compile([...ranges]);
}

/**
 * The client address: the right-most address of `X-Forwarded-For` that is not a trusted proxy, else the address of the
 * peer.
 */
export function clientAddress(request: IncomingMessage, trusts: TrustsPeer | null): string {
  const peer = request.socket.remoteAddress;
  // A closed socket has no address, so no forwarding header can be trusted.
  if (peer === undefined) return "";
  return trusts === null ? peer : proxyAddr(request, trusts);
}

/** Whether the peer itself is a trusted proxy. */
export function isTrustedPeer({ socket }: IncomingMessage, trusts: TrustsPeer | null): boolean {
  return trusts !== null && trusts(socket.remoteAddress ?? "", 0);
}

/**
 * The key of a client address for rate limits: an IPv4 address itself, or the /64 prefix of an IPv6 address, because
 * providers assign a whole /64 to one customer. better-auth stores the same form with a session.
 */
export function clientNetwork(address: string): string {
  // The edge proxy calls this for every request, and `normalizeIP` is slow.
  return address.includes(":") ? normalizeIP(address) : address;
}
