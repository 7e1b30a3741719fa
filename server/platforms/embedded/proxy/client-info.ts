import type { IncomingMessage } from "node:http";
import { clientAddress, isTrustedPeer, type TrustsPeer } from "../../../http/client-address.ts";

export type Scheme = "http" | "https";

/** The client of a request, as the app sees it. */
export interface ClientInfo {
  address: string;
  scheme: Scheme;
}

/**
 * Determines the client of a request. Only trusted proxies may name another client than the peer.
 *
 * @param defaultScheme - the scheme of a request for which no trusted proxy names one
 */
export function readClientInfo(request: IncomingMessage, trusts: TrustsPeer | null, defaultScheme: Scheme): ClientInfo {
  const forwarded = isTrustedPeer(request, trusts) ? request.headers["x-forwarded-proto"] : undefined;
  // Only the last value comes from the trusted proxy. The client may have sent the others.
  const last = String(forwarded).split(",").at(-1)?.trim().toLowerCase();
  const scheme = last === "http" || last === "https" ? last : defaultScheme;
  return { address: clientAddress(request, trusts), scheme };
}
