import { isIP } from "node:net";

/** A client that publishes its own metadata cannot be let in as it is. `message` is for whoever makes or uses it. */
export class UnusableClient extends Error {
  override readonly name = "UnusableClient";
}

/** A person is shown where the document lies, so it must fit on a page. In characters. */
const LONGEST_URL = 512;

/** Whether a client id is meant to be the URL of its own document. Ids that the service gives away are letters alone. */
export function isClientUrl(clientId: string): boolean {
  return /^https?:/i.test(clientId);
}

/**
 * Holds that a client id is an https URL of the form there is one spelling of: what is compared, asked for and shown to
 * people is then the same.
 *
 * @param ownHosts - hosts whose documents would pass as the service's own, with everything below those that begin with a
 *   dot
 * @throws {UnusableClient}
 */
export function checkClientUrl(clientId: string, ownHosts: readonly string[]): void {
  const wrong = whatIsWrong(clientId, ownHosts);
  if (wrong !== null)
    throw new UnusableClient(`client_id: ${wrong}. An example: https://app.example.com/oauth/client.json`);
}

function whatIsWrong(clientId: string, ownHosts: readonly string[]): string | null {
  if (clientId.length > LONGEST_URL) return `a URL has ${LONGEST_URL} characters at most`;
  const url = URL.parse(clientId);
  if (url?.protocol !== "https:") return "a URL must be an https one";
  if (url.username !== "" || url.password !== "") return "a URL must not hold a user name or a password";
  if (clientId.includes("#")) return "a URL must have no fragment";
  // A host that echoes its query would say whatever somebody else has put into it.
  if (clientId.includes("?")) return "a URL must have no query";
  if (isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0 || !/[^.]\.[^.]+$/.test(url.hostname))
    return "a URL must name a public host";
  if (url.pathname === "/") return "a URL must have a path";
  if (url.href !== clientId)
    return "a URL must be in its normal form: no dot segments, a lower-case host, no default port";
  if (ownHosts.some((own) => (own.startsWith(".") ? url.hostname.endsWith(own) : url.hostname === own)))
    return "a client cannot have an address of this service";
  return null;
}
