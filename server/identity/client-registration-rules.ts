import { APIError } from "better-auth/api";
import type { Fields } from "./auth-call.ts";

const NATIVE_REDIRECT = /^(http:\/\/(localhost|127\.0\.0\.1|\[::1\])([:/]|$)|[a-z][a-z0-9+-]*\.[a-z0-9+.-]+:)/i;

/**
 * Whether a registering client is a native application that omits `application_type`. RFC 7591 makes such a client a web
 * application, which must not redirect to a loopback address, and clients of the MCP SDK 1.x always omit it. A client
 * with both loopback and https redirect URIs, such as an editor in a browser, is native too.
 */
export function isUndeclaredNativeClient(registration: Fields): boolean {
  const { application_type: type, redirect_uris: uris } = registration;
  if (type !== undefined || !Array.isArray(uris)) return false;
  return uris.some((uri) => typeof uri === "string" && NATIVE_REDIRECT.test(uri));
}

const LINK_FIELDS = ["client_uri", "logo_uri", "tos_uri", "policy_uri"];
/** The service itself would send requests to these URLs, and registration is open to anyone (SSRF). */
const FETCHED_FIELDS = ["backchannel_logout_uri", "jwks_uri", "sector_identifier_uri"];
/** The size of the whole registration as JSON, in characters. */
const MAX_REGISTRATION_LENGTH = 8192;
const MAX_NAME_LENGTH = 100;
const MAX_REDIRECT_URIS = 20;

/**
 * Checks what an unauthenticated client registers: a name and links for users, and no URL that the service would fetch.
 *
 * @throws {APIError} 400 `invalid_client_metadata`
 */
export function checkClientRegistration(client: Fields): void {
  const { client_name: name, redirect_uris: redirects } = client;
  const fetched = FETCHED_FIELDS.find((field) => client[field] !== undefined);
  if (fetched !== undefined) throw invalidClient(`${fetched}: not supported`);
  if (JSON.stringify(client).length > MAX_REGISTRATION_LENGTH)
    throw invalidClient(`The registration must have at most ${MAX_REGISTRATION_LENGTH} characters`);
  if (typeof name === "string" && name.length > MAX_NAME_LENGTH)
    throw invalidClient(`client_name: must have at most ${MAX_NAME_LENGTH} characters`);
  if (Array.isArray(redirects) && redirects.length > MAX_REDIRECT_URIS)
    throw invalidClient(`redirect_uris: must have at most ${MAX_REDIRECT_URIS} entries`);
  for (const field of LINK_FIELDS) {
    const link = client[field];
    if (typeof link === "string" && !/^https?:\/\//i.test(link))
      throw invalidClient(`${field}: must be an http or https URL`);
  }
}

function invalidClient(description: string): APIError {
  return new APIError("BAD_REQUEST", { error: "invalid_client_metadata", error_description: description });
}
