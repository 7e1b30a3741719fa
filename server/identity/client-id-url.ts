import { isIP } from "node:net";

/** A client that publishes its metadata cannot be used. `message` is for the maker or the user of the client. */
export class UnusableClient extends Error {
  override readonly name = "UnusableClient";
}

/** In characters. The consent page shows the URL, so it must fit on a page. */
const MAX_URL_LENGTH = 512;

/** Whether a client id is meant as the URL of a metadata document. The ids that the service assigns have letters only. */
export function isClientUrl(clientId: string): boolean {
  return /^https?:/i.test(clientId);
}

/**
 * Checks that a client id is an https URL in the only spelling that it can have. The URL that is compared, fetched and
 * shown to users is then the same.
 *
 * @param ownHosts - hosts whose documents could be mistaken for the service's own; a host with a leading dot includes all
 *   its subdomains
 * @throws {UnusableClient}
 */
export function checkClientUrl(clientId: string, ownHosts: readonly string[]): void {
  const problem = findUrlProblem(clientId, ownHosts);
  if (problem !== null)
    throw new UnusableClient(`client_id: ${problem}. Example: https://app.example.com/oauth/client.json`);
}

function findUrlProblem(clientId: string, ownHosts: readonly string[]): string | null {
  if (clientId.length > MAX_URL_LENGTH) return `the URL must have at most ${MAX_URL_LENGTH} characters`;
  const url = URL.parse(clientId);
  if (url?.protocol !== "https:") return "the URL must use https";
  if (url.username !== "" || url.password !== "") return "the URL must not contain a user name or a password";
  if (clientId.includes("#")) return "the URL must not have a fragment";
  // A host that repeats its query in a response would serve any document that an attacker puts into the query.
  if (clientId.includes("?")) return "the URL must not have a query";
  if (isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0 || !/[^.]\.[^.]+$/.test(url.hostname))
    return "the URL must name a public host";
  if (url.pathname === "/") return "the URL must have a path";
  if (url.href !== clientId) return "the URL must be normalized: no dot segments, a lower-case host, no default port";
  if (ownHosts.some((own) => (own.startsWith(".") ? url.hostname.endsWith(own) : url.hostname === own)))
    return "the URL must not be on a host of this service";
  return null;
}
