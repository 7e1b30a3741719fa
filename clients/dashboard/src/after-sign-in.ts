/** The signed authorization request of the OAuth client that sent the user here; `undefined` without one. */
export function readOAuthRequest(): string | undefined {
  const query = queryWithoutError();
  return query.has("sig") ? query.toString() : undefined;
}

/** What the service added to the parameters of the client. */
const SIGNATURE_PARAMETERS = ["sig", "exp", "ba_iat", "ba_pl", "ba_param"];

/**
 * The authorization request of the client that sent the user here, to start it again; `null` without one, or if the client
 * wants the user to sign in again.
 */
export function readAuthorizationUrl(): string | null {
  const query = queryWithoutError();
  if (!query.has("sig") || query.has("max_age") || query.has("prompt")) return null;
  for (const name of SIGNATURE_PARAMETERS) query.delete(name);
  return `/api/auth/oauth2/authorize?${query.toString()}`;
}

/** The query of this page without the error that a failed sign-in at a provider added. */
export function queryWithoutError(): URLSearchParams {
  const query = new URLSearchParams(location.search);
  for (const name of ["error", "error_description"]) query.delete(name);
  return query;
}

/** The page of this site that the user requested before the sign-in. A URL of another site is ignored. */
export function readNextPage(): string {
  const next = URL.parse(new URLSearchParams(location.search).get("next") ?? "/", location.origin);
  if (next?.origin !== location.origin) return "/";
  // A path that begins with two slashes would lead to another site.
  return next.pathname.startsWith("//") ? "/" : next.pathname + next.search;
}

/** Continues after a sign-in: with the authorization request of an OAuth client, else with the requested page. */
export function continueAfterSignIn(response: { url?: string | null }): void {
  if (typeof response.url === "string" && readOAuthRequest() !== undefined) return location.assign(response.url);
  location.assign(readNextPage());
}
