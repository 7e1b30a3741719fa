import type { IncomingMessage } from "node:http";
import { clientAddress, isTrustedPeer, type TrustsPeer } from "../../../http/client-address.ts";

export type Scheme = "http" | "https";

/** What an app is told about whoever visits it. */
export interface ClientInfo {
  address: string;
  scheme: Scheme;
}

/**
 * Who visits, as far as it can be believed.
 *
 * @param usual - the scheme of a visit about which no trusted proxy says anything
 */
export function clientInfoOf(request: IncomingMessage, trusts: TrustsPeer | null, usual: Scheme): ClientInfo {
  const said = isTrustedPeer(request, trusts) ? request.headers["x-forwarded-proto"] : undefined;
  // A proxy before the proxy may have put a word of its own first.
  const last = String(said).split(",").at(-1)?.trim().toLowerCase();
  return { address: clientAddress(request, trusts), scheme: last === "http" || last === "https" ? last : usual };
}
