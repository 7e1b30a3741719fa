import type { Fields } from "./auth-call.ts";

/**
 * Adds the gateway as the resource of an authorization request that names none (RFC 8707, section 2). Without a resource,
 * no API of the service would accept the access token.
 */
export function withDefaultResource(request: Fields, publicUrl: string): Fields {
  // An empty parameter counts as omitted (RFC 6749, section 3.1).
  const isOmitted = request["resource"] === undefined || request["resource"] === "";
  return isOmitted ? { ...request, resource: `${publicUrl}/mcp` } : request;
}
