import type { HttpResponse } from "../clients/rest-client.ts";
import { createHarness, type Harness } from "../service/harness.ts";
import { type ClientPublisher, openClientPublisher } from "./client-publisher.ts";
import { OAuthRequests } from "./oauth-requests.ts";
import { randomAddress, TestUser } from "./test-user.ts";

/** The PKCE parameters of an authorization request. */
export const CHALLENGE = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };

/** A service with a signed-in user, and a server that publishes OAuth clients. */
export interface PublishedClients extends AsyncDisposable {
  harness: Harness;
  publicUrl: string;
  publisher: ClientPublisher;
  user: TestUser;
  oauth: OAuthRequests;
  /**
   * Sends an authorization request, by default from a client network without any earlier request. `destination` is where
   * the response leads: a path of the service, another URL, or the status of a response without a redirect.
   */
  authorize(
    clientId: string,
    query?: Record<string, string>,
    address?: string,
  ): Promise<HttpResponse & { destination: string }>;
  /** Makes the stored metadata of a client stale. */
  makeStale(clientId: string): Promise<void>;
  countRows(table: "oauthClient" | "oauthConsent", clientId: string): Promise<number>;
  /** How many requests the publisher received for a path. */
  countRequests(path: string): number;
}

export async function openPublishedClients(): Promise<PublishedClients> {
  await using opening = new AsyncDisposableStack();
  const publisher = opening.use(await openClientPublisher());
  const config = { trustedProxies: ["127.0.0.1"], appsDomain: "apps.example.net:3001" };
  const harness = opening.use(await createHarness({ clientMetadata: publisher.createFetcher(), config }));
  const { publicUrl, parts } = harness.service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  const oauth = new OAuthRequests(publicUrl, user);
  const executeFor = (clientId: string, statement: string) =>
    parts.orm.em.fork().execute<{ count: number }[]>(`${statement} where "clientId" = ?`, [clientId]);
  const opened = opening.move();
  return {
    harness,
    publicUrl,
    publisher,
    user,
    oauth,
    async authorize(clientId, query = {}, address = randomAddress()) {
      const common = { resource: `${publicUrl}/mcp`, scope: "read", ...CHALLENGE };
      const url = oauth.authorizeUrl(clientId, { ...common, ...query });
      const response = await user.send("GET", url.pathname + url.search, { headers: { "x-forwarded-for": address } });
      return { ...response, destination: readDestination(response, publicUrl) };
    },
    async makeStale(clientId) {
      await executeFor(clientId, `update auth."oauthClient" set metadata = '{"fresh_until":1}'`);
    },
    async countRows(table, clientId) {
      const [row] = await executeFor(clientId, `select count(*)::int as count from auth."${table}"`);
      return row?.count ?? Number.NaN;
    },
    countRequests: (path) => publisher.requests.filter((request) => request.path === path).length,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The response to a script names the page in its body. A browser gets a redirect. */
function readDestination({ status, headers, body }: HttpResponse, publicUrl: string): string {
  const location = headers.get("location") ?? body["url"];
  if (typeof location !== "string") return String(status);
  const url = new URL(location, publicUrl);
  return url.origin === publicUrl ? url.pathname : url.href;
}
