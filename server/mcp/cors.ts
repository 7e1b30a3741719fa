import type { IncomingHttpHeaders } from "node:http";
import { ALLOWED_METHODS } from "./gateway-errors.ts";

const EXPOSED_HEADERS = "www-authenticate, retry-after, x-request-id";
/** In seconds; browsers use at most two hours. */
const PREFLIGHT_MAX_AGE = 7200;

/**
 * Lets the page that sent a request read its response. Every call needs a token that the page itself sends, so no page can use
 * the rights of a user without one.
 */
export function createCorsHeaders(origin: string): Record<string, string> {
  return { "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED_HEADERS, vary: "origin" };
}

/** The headers of the response to a preflight request, which carries no token. */
export function createPreflightHeaders({
  "access-control-request-headers": requested,
}: IncomingHttpHeaders): Record<string, string> {
  return {
    "access-control-allow-methods": ALLOWED_METHODS,
    ...(typeof requested === "string" && { "access-control-allow-headers": requested }),
    "access-control-max-age": String(PREFLIGHT_MAX_AGE),
  };
}
