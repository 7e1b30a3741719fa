/** The signed request of an OAuth client that sent the person here, to be handed back; `undefined` when none did. */
export function oauthQuery(): string | undefined {
  return new URLSearchParams(location.search).has("sig") ? location.search.slice(1) : undefined;
}

/**
 * Where to go after signing in: what the identity provider says, so that an OAuth client's request goes on, or else the
 * page that the person wanted. Only paths of this site are followed from the address.
 */
export function goOn(answer: { url?: string | null }): void {
  if (typeof answer.url === "string" && oauthQuery() !== undefined) return location.assign(answer.url);
  const next = new URL(new URLSearchParams(location.search).get("next") ?? "/", location.origin);
  location.assign(next.origin === location.origin ? next.pathname + next.search : "/");
}
