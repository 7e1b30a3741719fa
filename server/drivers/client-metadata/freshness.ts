import type { IncomingHttpHeaders } from "node:http";
import CachePolicy from "http-cache-semantics";

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
