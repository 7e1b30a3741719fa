const NATIVE_REDIRECT = /^(http:\/\/(localhost|127\.0\.0\.1|\[::1\])([:/]|$)|[a-z][a-z0-9+-]*\.[a-z0-9+.-]+:)/i;

/**
 * Whether a client that registers is a native one that does not say so. RFC 7591 then takes it for a web client, which
 * may not be redirected to a loopback address; clients of the MCP SDK 1.x never say. One that may be redirected to a page
 * of its maker's as well, as editors in a browser are, is still a native one.
 */
export function isNativeClient(registration: Record<string, unknown>): boolean {
  const { application_type: type, redirect_uris: uris } = registration;
  if (type !== undefined || !Array.isArray(uris)) return false;
  return uris.some((uri) => typeof uri === "string" && NATIVE_REDIRECT.test(uri));
}
