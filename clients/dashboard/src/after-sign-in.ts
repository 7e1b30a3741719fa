/** The signed request of an OAuth client that sent the person here, to be handed back; `undefined` when none did. */
export function oauthQuery(): string | undefined {
  const query = broughtAlong();
  return query.has("sig") ? query.toString() : undefined;
}

/** What the person came with, without what was added on the way back from a provider where it did not work. */
export function broughtAlong(): URLSearchParams {
  const query = new URLSearchParams(location.search);
  for (const name of ["error", "error_description"]) query.delete(name);
  return query;
}

/** The page of this site that the person wanted. Nothing else is followed from the address. */
export function wantedPage(): string {
  const next = URL.parse(new URLSearchParams(location.search).get("next") ?? "/", location.origin);
  if (next?.origin !== location.origin) return "/";
  // A path that begins with two slashes is the address of another site.
  return next.pathname.startsWith("//") ? "/" : next.pathname + next.search;
}

/**
 * Goes on after signing in: to what the identity provider says, so that an OAuth client's request goes on, or else to the
 * page that the person wanted.
 */
export function goOn(answer: { url?: string | null }): void {
  if (typeof answer.url === "string" && oauthQuery() !== undefined) return location.assign(answer.url);
  location.assign(wantedPage());
}
