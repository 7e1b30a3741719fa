import { afterAll, beforeAll, expect, test } from "vitest";
import { exportJWK, generateKeyPair } from "jose";
import { INTERNAL_ERROR } from "../../domain/shared/errors.ts";
import { type ClientPublisher, openClientPublisher, REDIRECT_URI } from "../support/identity/client-publisher.ts";
import { givenConsent, givenOAuthClient, givenUser } from "../support/identity/given-user.ts";
import { type IdentityServer, startIdentityServer } from "../support/identity/identity-server.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { CHALLENGE } from "../support/identity/published-clients.ts";
import { randomAddress, TestUser } from "../support/identity/test-user.ts";

let publisher: ClientPublisher;
let server: IdentityServer;
let user: TestUser;
const em = () => server.orm.em.fork();

beforeAll(async () => {
  publisher = await openClientPublisher();
  server = await startIdentityServer({ clientMetadata: { fetcher: publisher.createFetcher(), reachability: null } });
  user = new TestUser(server.url);
  await user.signUp();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await publisher?.[Symbol.asyncDispose]();
});

/** Opens an authorization request, by default from a network without an earlier request. */
function authorize(clientId: string, address = randomAddress()) {
  const url = new OAuthRequests(server.url, user).authorizeUrl(clientId, { scope: "read", ...CHALLENGE });
  return user.send("GET", url.pathname + url.search, { headers: { "x-forwarded-for": address } });
}

interface StoredClient {
  name: string;
  clientDiscoveryId: string;
  metadata: { fresh_until?: unknown };
}

function storedClients(clientId: string): Promise<StoredClient[]> {
  const sql = `select name, "clientDiscoveryId", metadata from auth."oauthClient" where "clientId" = ?`;
  return em().execute<StoredClient[]>(sql, [clientId]);
}

/** Replaces the stored metadata of a client, which says until when its document is fresh. */
function setMetadata(clientId: string, metadata: object): Promise<unknown> {
  const sql = `update auth."oauthClient" set metadata = ? where "clientId" = ?`;
  return em().execute(sql, [JSON.stringify(metadata), clientId]);
}

const fetchesOf = (path: string) => publisher.requests.filter((request) => request.path === path).length;

test.each([
  ["no-cache", {}, 300],
  ["short", { "cache-control": "max-age=1" }, 60],
  ["medium", { "cache-control": "max-age=1000" }, 1000],
  ["long", { "cache-control": "max-age=100000" }, 3600],
] as const)(
  "a document with the cache header %s is fresh for at least a minute, and at most an hour",
  async (...row) => {
    const [name, headers, seconds] = row;
    const clientId = publisher.publish(`/fresh-${name}.json`, {}, headers);
    const before = Date.now();
    await authorize(clientId);
    const after = Date.now();
    const [client] = await storedClients(clientId);
    const freshUntil = Number(client!.metadata.fresh_until);
    expect(freshUntil).toBeGreaterThanOrEqual(before + seconds * 1000);
    expect(freshUntil).toBeLessThanOrEqual(after + seconds * 1000);
    expect(client!.clientDiscoveryId).toBe("cimd");
  },
);

test("a stored document is fetched again when it is stale or says nothing about its freshness, and then replaced", async () => {
  const [path, count] = ["/replaced.json", () => fetchesOf("/replaced.json")];
  const clientId = publisher.publish(path, { client_name: "First" });
  await authorize(clientId);
  publisher.publish(path, { client_name: "Second" });
  await setMetadata(clientId, { fresh_until: Date.now() + 60_000 });
  await authorize(clientId);
  expect([count(), (await storedClients(clientId)).map(({ name }) => name)]).toEqual([1, ["First"]]);
  for (const metadata of [{ fresh_until: 1 }, {}, { fresh_until: "9999999999999" }]) {
    const fetchesBefore = count();
    await setMetadata(clientId, metadata);
    await authorize(clientId);
    expect([count(), (await storedClients(clientId)).map(({ name }) => name)]).toEqual([fetchesBefore + 1, ["Second"]]);
  }
  const withoutMetadata = `update auth."oauthClient" set metadata = null where "clientId" = ?`;
  await em().execute(withoutMetadata, [clientId]);
  await authorize(clientId);
  expect(count()).toBe(5);
});

test("a client that changes its name or authentication, or adds a redirect URI, loses its consents, and no other client does", async () => {
  const userId = await givenUser(em());
  const other = await givenOAuthClient(em());
  await givenConsent(em(), userId, other);
  const { publicKey } = await generateKeyPair("ES256");
  const keys = { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [await exportJWK(publicKey)] } };
  const path = "/consents.json";
  const clientId = publisher.publish(path);
  const consents = async () => {
    const sql = `select "clientId" from auth."oauthConsent" where "userId" = ?`;
    return new Set((await em().execute<{ clientId: string }[]>(sql, [userId])).map((row) => row.clientId));
  };
  await authorize(clientId);
  const authorizeWith = async (members: object) => {
    publisher.publish(path, members);
    await setMetadata(clientId, {});
    await authorize(clientId);
    return consents();
  };
  await givenConsent(em(), userId, clientId);
  expect(await authorizeWith({})).toEqual(new Set([other, clientId]));
  expect(await authorizeWith(keys)).toEqual(new Set([other]));
  const added = { ...keys, redirect_uris: [REDIRECT_URI, "https://client.example.com/added"] };
  await givenConsent(em(), userId, clientId);
  expect(await authorizeWith(added)).toEqual(new Set([other]));
  await givenConsent(em(), userId, clientId);
  expect(await authorizeWith(keys)).toEqual(new Set([other, clientId]));
  expect(await authorizeWith({ ...keys, client_name: "Another name" })).toEqual(new Set([other]));
});

test("the document of a client that the operator disabled is not fetched again", async () => {
  const clientId = publisher.publish("/disabled.json");
  await authorize(clientId);
  await em().execute(`update auth."oauthClient" set disabled = true, metadata = null where "clientId" = ?`, [clientId]);
  expect([(await authorize(clientId)).status, fetchesOf("/disabled.json")]).toEqual([400, 1]);
});

test("a document that better-auth rejects gets an error that does not quote it, and is logged", async () => {
  const rule = "Invalid client metadata document. redirect_uris: must be https URLs, http URLs of localhost";
  const invalid: [members: object, description: string][] = [
    [{ redirect_uris: ["http://elsewhere.example.com/"] }, rule],
    [
      { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [] } },
      "Invalid client metadata document. jwks must be an RFC 7517 JWK Set object with a non-empty keys array.",
    ],
  ];
  for (const [at, [members, description]] of invalid.entries()) {
    const clientId = publisher.publish(`/rejected-${at}.json`, members);
    const { status, body } = await authorize(clientId);
    expect([status, body]).toEqual([
      400,
      { error: "invalid_client", error_description: expect.stringContaining(description) },
    ]);
    expect(JSON.stringify(body)).not.toContain("elsewhere");
    const logged = server.logged().filter(({ msg }) => msg === "an OAuth client was refused");
    expect(logged.at(-1)).toMatchObject({ client: clientId, reason: body["error_description"] });
  }
});

test("the log says why a document cannot be read, and 429 says when it is fetched again", async () => {
  const clientId = publisher.url("/missing.json");
  const { status, body } = await authorize(clientId);
  const problem = "The client's metadata document cannot be read: its host responded with status 404, not 200.";
  expect([status, body]).toEqual([400, { error: "invalid_client", error_description: problem }]);
  const refused = expect.objectContaining({ client: clientId, reason: problem, err: expect.any(Object) });
  expect(server.logged()).toContainEqual(refused);
  const again = await authorize(clientId);
  const seconds = again.headers.get("retry-after");
  expect([again.status, again.body]).toEqual([
    429,
    {
      error: "temporarily_unavailable",
      error_description: `${problem} The document is not fetched again yet. Try again in ${seconds} seconds.`,
    },
  ]);
});

test("an internal error is not the fault of the document, which is fetched again at once", async () => {
  const clientId = publisher.publish("/internal.json");
  const refusalsBefore = server.logged().filter(({ msg }) => msg.includes("was refused")).length;
  await em().execute(`alter table auth."oauthClientResource" rename to out_of_reach`);
  try {
    const { status, body } = await authorize(clientId);
    expect([status, body]).toEqual([500, { message: INTERNAL_ERROR }]);
  } finally {
    await em().execute(`alter table auth.out_of_reach rename to "oauthClientResource"`);
  }
  expect(server.logged().filter(({ msg }) => msg.includes("was refused"))).toHaveLength(refusalsBefore);
  const { body } = await authorize(clientId);
  expect([new URL(String(body["url"]), server.url).pathname, fetchesOf("/internal.json")]).toEqual(["/consent", 2]);
});

test("a URL that cannot be the id of a client is not fetched", async () => {
  const clientId = `${publisher.publish("/query.json")}?x`;
  expect((await authorize(clientId)).body).toMatchObject({
    error: "invalid_client",
    error_description: expect.stringContaining("client_id: the URL must not have a query"),
  });
  expect(fetchesOf("/query.json")).toBe(0);
});

test("only the authorization endpoint fetches a document", async () => {
  const clientId = publisher.publish("/elsewhere.json");
  await user.get(`/oauth2/public-client?${new URLSearchParams({ client_id: clientId }).toString()}`);
  await new OAuthRequests(server.url, user).requestToken({ grant_type: "refresh_token", client_id: clientId });
  expect([fetchesOf("/elsewhere.json"), await storedClients(clientId)]).toEqual([0, []]);
});
