import { APIError } from "better-auth/api";
import { type Fields, readFields } from "./auth-call.ts";
import { encodeRedirectUri, findPrivateUseProblem, readPrivateUseScheme } from "./private-use-redirects.ts";

const LOOPBACK_REDIRECT = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])([:/]|$)/i;

/** The grant types of a client whose user consents. */
const GRANT_TYPES = ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"];

/**
 * Removes the members of a registration that say nothing: `null`, an empty text and an empty list. Serializers write them
 * for what a client does not set. Changes the registration itself, because better-auth adds what a hook returns to it.
 */
export function removeEmptyMembers(registration: unknown): void {
  const fields = readFields(registration);
  for (const [name, value] of Object.entries(fields))
    if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) delete fields[name];
}

/**
 * Leaves out the grant types and response types that the service does not have. RFC 7591, section 2, lets a server replace
 * them. A list of which nothing would remain is unchanged, and better-auth rejects it.
 */
function keepSupported(registration: Fields): Fields {
  const keep = (name: string, supported: readonly string[]): Fields => {
    const kept = readStrings(registration[name]).filter((value) => supported.includes(value));
    return kept.length === 0 ? {} : { [name]: kept };
  };
  return { ...registration, ...keep("grant_types", GRANT_TYPES), ...keep("response_types", ["code"]) };
}

/**
 * Returns a checked registration in the form that better-auth accepts.
 *
 * A native application may omit `application_type`: RFC 7591 makes such a client a web application, which must not redirect
 * to a loopback address, and clients of the MCP SDK 1.x always omit it. A client with both loopback and https redirect
 * URIs, such as an editor in a browser, is native too. A client with a private-use redirect URI is public. No client gets
 * tokens that are bound to a key.
 */
export function normalizeClientRegistration(sent: Fields): Fields {
  const registration = keepSupported(sent);
  const bearer = { dpop_bound_access_tokens: false };
  const uris = readStrings(registration["redirect_uris"]);
  if (uris.length === 0) return { ...registration, ...bearer };
  const hasPrivateUse = uris.some(isPrivateUse);
  return {
    ...(hasPrivateUse && { token_endpoint_auth_method: "none" }),
    ...((hasPrivateUse || uris.some((uri) => LOOPBACK_REDIRECT.test(uri))) && { application_type: "native" }),
    ...registration,
    ...bearer,
    redirect_uris: uris.map(encodeRedirectUri),
  };
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
 * @throws {APIError} 400 `invalid_client_metadata` or `invalid_redirect_uri`
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
  checkRedirectUris(client);
  for (const field of LINK_FIELDS) {
    const link = client[field];
    if (typeof link === "string" && !/^https?:\/\//i.test(link))
      throw invalidClient(`${field}: must be an http or https URL`);
  }
}

/** Checks the private-use redirect URIs. better-auth checks all others. */
function checkRedirectUris(client: Fields): void {
  const uris = readStrings(client["redirect_uris"]);
  if (!uris.some(isPrivateUse)) return;
  const { application_type: type = "native", token_endpoint_auth_method: method = "none" } = client;
  const problem = uris.map(findPrivateUseProblem).find((found) => found !== null);
  if (problem !== undefined) throw invalidRedirectUri(problem);
  if (type !== "native") throw invalidRedirectUri("a private-use scheme requires application_type native");
  // A program on a user's device cannot keep a secret. PKCE protects its authorization codes instead.
  if (method !== "none") throw invalidRedirectUri("a private-use scheme requires token_endpoint_auth_method none");
}

function isPrivateUse(uri: string): boolean {
  return readPrivateUseScheme(uri) !== null;
}

/** The entries of a list of strings; empty for anything else, which better-auth rejects. */
function readStrings(value: unknown): string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string") ? value : [];
}

function invalidRedirectUri(problem: string): APIError {
  return new APIError("BAD_REQUEST", { error: "invalid_redirect_uri", error_description: `redirect_uris: ${problem}` });
}

function invalidClient(description: string): APIError {
  return new APIError("BAD_REQUEST", { error: "invalid_client_metadata", error_description: description });
}
