import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";

/** Whether the peer at an address is a reverse proxy of the operator's, whose word about its own peer is taken. */
export type TrustsPeer = (address: string, hop: number) => boolean;

/**
 * Who may say for whom a request comes.
 *
 * @param ranges - addresses and CIDR ranges, as `TRUSTED_PROXIES` names them
 * @returns `null` when there is nobody, so that no request costs a look at what it says
 */
export function trustedPeers(ranges: readonly string[]): TrustsPeer | null {
  return ranges.length === 0 ? null : proxyAddr.compile([...ranges]);
}

/** Where a request comes from: the right-most address of `X-Forwarded-For` that is no trusted proxy, else the peer's own. */
export function clientAddress(request: IncomingMessage, trusts: TrustsPeer | null): string {
  const peer = request.socket.remoteAddress;
  // One that has hung up has none any more, and what it said is not worth a look.
  if (peer === undefined) return "";
  return trusts === null ? peer : proxyAddr(request, trusts);
}

/** Whether the peer itself is a trusted proxy. */
export function isTrustedPeer({ socket }: IncomingMessage, trusts: TrustsPeer | null): boolean {
  return trusts !== null && trusts(socket.remoteAddress ?? "", 0);
}
