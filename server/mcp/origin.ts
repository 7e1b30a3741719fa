import type { IncomingHttpHeaders } from "node:http";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a request comes from where the service itself lives. A page of another site must not use a token that a
 * browser on this machine holds, nor reach a service on a loopback address under a name of its own (DNS rebinding).
 * Clients that are no browsers send no `Origin`.
 */
export function isOwnOrigin({ origin, host }: IncomingHttpHeaders, publicUrl: string): boolean {
  const own = URL.parse(publicUrl);
  if (own === null) return false;
  if (origin !== undefined && !isSameSite(URL.parse(origin), own)) return false;
  return isSameSite(URL.parse(`http://${host ?? ""}`), own);
}

function isSameSite(asked: URL | null, own: URL): boolean {
  if (asked === null) return false;
  return asked.hostname === own.hostname || (LOOPBACK.has(asked.hostname) && LOOPBACK.has(own.hostname));
}
