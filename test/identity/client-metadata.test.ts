import { randomBytes } from "node:crypto";
import { auth as authV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REDIRECT_URI } from "../support/identity/client-publisher.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { TestOAuthClient } from "../support/identity/test-oauth-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { CHALLENGE, openPublishedClients, type PublishedClients } from "../support/identity/published-clients.ts";
import { signInAndListTools } from "../support/clients/sdk-clients.ts";

let clients: PublishedClients;

beforeAll(async () => {
  clients = await openPublishedClients();
});
afterAll(() => clients?.[Symbol.asyncDispose]());

test("the OAuth metadata says that clients may publish a metadata document instead of registering", async () => {
  for (const path of ["oauth-authorization-server", "openid-configuration"]) {
    const { body } = await clients.user.send("GET", `/.well-known/${path}`);
    expect([path, body]).toEqual([
      path,
      expect.objectContaining({
        client_id_metadata_document_supported: true,
        token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]),
      }),
    ]);
  }
});

for (const sdkVersion of [1, 2] as const)
  test(`the v${sdkVersion} SDK signs in with a metadata document, lists the tools and refreshes the token`, async () => {
    const url = clients.publisher.publish(`/v${sdkVersion}.json`, { client_name: "An SDK's client" });
    const client = new TestOAuthClient(clients.user, REDIRECT_URI, url);
    expect(await signInAndListTools(`${clients.publicUrl}/mcp`, client, sdkVersion)).toContain("service_list_apps");
    expect((client.clientInformation() as { client_id: string }).client_id).toBe(url);
    expect(await authV1(client as never, { serverUrl: `${clients.publicUrl}/mcp` })).toBe("AUTHORIZED");
    const [first, second] = client.tokenResponses;
    expect([client.tokenResponses.length, second?.refresh_token === first?.refresh_token]).toEqual([2, false]);
    const gateway = new GatewayClient(clients.publicUrl, second?.access_token ?? "");
    expect((await gateway.call("tools/list")).status).toBe(200);
    expect(clients.countRequests(`/v${sdkVersion}.json`)).toBe(1);
  });

test("a user who is not signed in is sent to sign in, then to the consent page, which gets the name of the client", async () => {
  const url = clients.publisher.publish("/sign-in.json", { client_name: "Ada's  client" });
  const signedOut = new TestUser(clients.publicUrl, clients.user.email);
  const query = clients.oauth.authorizeUrl(url, { resource: `${clients.publicUrl}/mcp`, scope: "read", ...CHALLENGE });
  const authorization = await signedOut.send("GET", query.pathname + query.search);
  const page = new URL(String(authorization.body["url"]), clients.publicUrl);
  expect(page.pathname).toBe("/sign-in");
  const { email, password } = clients.user;
  const signedIn = await signedOut.post("/sign-in/email", { email, password, oauth_query: page.search.slice(1) });
  expect(new URL(String(signedIn.body["url"]), clients.publicUrl).pathname).toBe("/consent");
  const { body } = await signedOut.get(`/oauth2/public-client?${new URLSearchParams({ client_id: url }).toString()}`);
  expect(body).toEqual({ client_id: url, client_name: "Ada's  client", redirect_uris: [] });
});

test("users are redirected only to the redirect URIs of the document, with any port for a loopback address", async () => {
  const web = "https://client.example.com/callback";
  const url = clients.publisher.publish("/redirects.json", {
    redirect_uris: [REDIRECT_URI, web, "com.example.app:/callback"],
  });
  for (const uri of [REDIRECT_URI, REDIRECT_URI.replace("41999", "1"), web, "com.example.app:/callback"])
    expect([uri, (await clients.authorize(url, { redirect_uri: uri })).destination]).toEqual([uri, "/consent"]);
  const otherUris = [
    ...[
      `${REDIRECT_URI}/`,
      REDIRECT_URI.replace("127.0.0.1", "localhost"),
      `${web}?more`,
      web.replace("https", "http"),
    ],
    "https://elsewhere.example.com/callback",
    web.replace("callback", "%63allback"),
    `${web}#x`,
  ];
  for (const uri of otherUris)
    expect([uri, (await clients.authorize(url, { redirect_uri: uri })).destination]).toEqual([uri, "400"]);
  const withoutPkce = await clients.authorize(url, { code_challenge: "", code_challenge_method: "" });
  const redirect = new URL(withoutPkce.destination);
  expect([redirect.href.startsWith(REDIRECT_URI), redirect.searchParams.get("error")]).toEqual([
    true,
    "invalid_request",
  ]);
});

test("simultaneous requests share one fetch of a document, and it is not fetched again while it is fresh", async () => {
  const path = "/shared.json";
  const url = clients.publisher.publish(path, {}, { "cache-control": "no-store" });
  const responses = await Promise.all(Array.from({ length: 8 }, () => clients.authorize(url)));
  expect(responses.map(({ destination }) => destination)).toEqual(Array.from({ length: 8 }, () => "/consent"));
  await clients.authorize(url);
  expect(clients.countRequests(path)).toBe(1);
  await clients.makeStale(url);
  expect((await clients.authorize(url)).destination).toBe("/consent");
  expect(clients.countRequests(path)).toBe(2);
});

test("a redirect URI that was removed from the document is rejected, and a changed client needs new consent", async () => {
  const path = "/changing.json";
  const [old, added] = [REDIRECT_URI, "https://client.example.com/added"];
  const url = clients.publisher.publish(path, { redirect_uris: [old] });
  const resource = `${clients.publicUrl}/mcp`;
  const granted = await clients.oauth.grantTo(url, { resource, scope: "read offline_access" });
  expect(granted.status).toBe(200);
  const authorizeAgain = async (redirect: string) =>
    (await clients.authorize(url, { redirect_uri: redirect, scope: "read offline_access" })).destination;
  // The document is fetched again and has not changed, so the consent remains.
  await clients.makeStale(url);
  expect(await authorizeAgain(old)).toMatch(/^http:.*[?&]code=/);
  clients.publisher.publish(path, { redirect_uris: [old, added] });
  expect(await authorizeAgain(added)).toBe("400");
  await clients.makeStale(url);
  expect([await authorizeAgain(added), await authorizeAgain(old)]).toEqual(["/consent", "/consent"]);
  await clients.oauth.grantTo(url, { resource, scope: "read offline_access" });
  clients.publisher.publish(path, { redirect_uris: [added] });
  await clients.makeStale(url);
  expect([await authorizeAgain(old), await authorizeAgain(added)]).toEqual(["400", expect.stringContaining("code=")]);
  clients.publisher.publish(path, { redirect_uris: [added], client_name: "Another name" });
  await clients.makeStale(url);
  expect([await authorizeAgain(added), await clients.countRows("oauthConsent", url)]).toEqual(["/consent", 0]);
  // Tokens that were issued before remain valid.
  const refresh = { grant_type: "refresh_token", refresh_token: String(granted.body["refresh_token"]), client_id: url };
  expect((await clients.oauth.requestToken(refresh)).status).toBe(200);
});

test("a client whose document became unreadable keeps its tokens, but no user can authorize it", async () => {
  const path = "/fading.json";
  const url = clients.publisher.publish(path);
  const { body } = await clients.oauth.grantTo(url, {
    resource: `${clients.publicUrl}/mcp`,
    scope: "read offline_access",
  });
  clients.publisher.handle(path, (_request, response) => response.writeHead(410).end());
  await clients.makeStale(url);
  expect((await clients.authorize(url)).status).toBe(400);
  const refresh = { grant_type: "refresh_token", refresh_token: String(body["refresh_token"]), client_id: url };
  expect((await clients.oauth.requestToken(refresh)).status).toBe(200);
});

test("a client that the operator disabled stays disabled, and its document is not fetched again", async () => {
  const url = clients.publisher.publish("/disabled.json");
  expect((await clients.authorize(url)).destination).toBe("/consent");
  const em = clients.harness.service.parts.orm.em.fork();
  await em.execute(`update auth."oauthClient" set disabled = true where "clientId" = ?`, [url]);
  await clients.makeStale(url);
  expect([(await clients.authorize(url)).destination, clients.countRequests("/disabled.json")]).toEqual(["400", 1]);
});

test("a client may authenticate with the keys of its document, and no URL in the document is fetched", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const links = ["logo_uri", "client_uri", "tos_uri", "policy_uri", "jwks_uri", "sector_identifier_uri"];
  const linkMembers = Object.fromEntries(links.map((link) => [link, clients.publisher.url(`/${link}`)]));
  const authentication = {
    token_endpoint_auth_method: "private_key_jwt",
    jwks: { keys: [await exportJWK(publicKey)] },
  };
  const ignored = { scope: "of another server", grant_types: ["authorization_code", "urn:example:other"], unknown: {} };
  const url = clients.publisher.publish("/keys.json", { ...linkMembers, ...authentication, ...ignored });
  const query = { resource: `${clients.publicUrl}/mcp`, scope: "read", prompt: "consent" };
  const endpoint = `${clients.publicUrl}/api/auth/oauth2/token`;
  const createAssertion = async (key: CryptoKey): Promise<Record<string, string>> => ({
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await new SignJWT({ jti: randomBytes(16).toString("hex") })
      .setProtectedHeader({ alg: "ES256" })
      .setIssuer(url)
      .setSubject(url)
      .setAudience(endpoint)
      .setExpirationTime("1m")
      .sign(key),
  });
  const { privateKey: otherKey } = await generateKeyPair("ES256");
  expect((await clients.oauth.grantTo(url, query)).status).toBe(400);
  expect((await clients.oauth.grantTo(url, query, await createAssertion(otherKey))).status).toBe(401);
  const granted = await clients.oauth.grantTo(url, query, await createAssertion(privateKey));
  expect([granted.status, granted.body]).toMatchObject([200, { access_token: expect.any(String) }]);
  expect(links.filter((link) => clients.countRequests(`/${link}`) > 0)).toEqual([]);
});
