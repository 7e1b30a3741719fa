import { randomBytes } from "node:crypto";
import { type ClientPublisher, openClientPublisher } from "./client-publisher.ts";
import { createHarness, type Harness } from "../service/harness.ts";
import { OAuthRequests } from "./oauth-requests.ts";
import { TestUser } from "./test-user.ts";
import type { Answer } from "../clients/rest-client.ts";

/** What an authorization request needs besides the client. */
export const CHALLENGE = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };

/** A service, somebody who is signed in there, and a server that publishes OAuth clients. */
export interface PublishedClients extends AsyncDisposable {
  harness: Harness;
  publicUrl: string;
  publisher: ClientPublisher;
  person: TestUser;
  oauth: OAuthRequests;
  /**
   * Asks to authorize a client, by default from an address that nothing was counted for yet. `to` is where that leads: to
   * a path of the service, to a URL elsewhere, or to the status of an answer that leads nowhere.
   */
  authorize(clientId: string, query?: Record<string, string>, from?: string): Promise<Answer & { to: string }>;
  /** Lets what is known of a client be as old as it can be. */
  expire(clientId: string): Promise<void>;
  /** How many rows there are for a client. */
  count(table: "oauthClient" | "oauthConsent", clientId: string): Promise<number>;
  /** How often a path was asked for. */
  askedFor(path: string): number;
}

/** An address of a network of its own. */
export function somewhere(): string {
  return `2001:db8:${randomBytes(2).toString("hex")}:${randomBytes(2).toString("hex")}::1`;
}

export async function openPublishedClients(): Promise<PublishedClients> {
  await using opening = new AsyncDisposableStack();
  const publisher = opening.use(await openClientPublisher());
  const config = { trustedProxies: ["127.0.0.1"], appsDomain: "apps.example.net:3001" };
  const harness = opening.use(await createHarness({ clientMetadata: publisher.fetcher(), config }));
  const { publicUrl, parts } = harness.service;
  const person = new TestUser(publicUrl);
  await person.signUp();
  const oauth = new OAuthRequests(publicUrl, person);
  const sql = (statement: string, clientId: string) =>
    parts.orm.em.fork().execute<{ n: number }[]>(`${statement} where "clientId" = ?`, [clientId]);
  const opened = opening.move();
  return {
    ...{ harness, publicUrl, publisher, person, oauth },
    async authorize(clientId, query = {}, from = somewhere()) {
      const url = oauth.authorizeUrl(clientId, { resource: `${publicUrl}/mcp`, scope: "read", ...CHALLENGE, ...query });
      const answer = await person.send("GET", url.pathname + url.search, { headers: { "x-forwarded-for": from } });
      return { ...answer, to: destinationOf(answer, publicUrl) };
    },
    async expire(clientId) {
      await sql(`update auth."oauthClient" set metadata = '{"fresh_until":1}'`, clientId);
    },
    count: async (table, clientId) =>
      (await sql(`select count(*)::int as n from auth."${table}"`, clientId))[0]?.n ?? Number.NaN,
    askedFor: (path) => publisher.asked.filter((asked) => asked.path === path).length,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A browser is redirected; a program is told where to go. */
function destinationOf({ status, headers, body }: Answer, publicUrl: string): string {
  const said = headers.get("location") ?? body["url"];
  if (typeof said !== "string") return String(status);
  const to = new URL(said, publicUrl);
  return to.origin === publicUrl ? to.pathname : to.href;
}
