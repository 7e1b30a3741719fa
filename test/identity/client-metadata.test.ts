import { randomBytes } from "node:crypto";
import { auth as auth1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REDIRECT } from "../support/identity/client-publisher.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { TestOAuthClient } from "../support/identity/test-oauth-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { CHALLENGE, openPublishedClients, type PublishedClients } from "../support/identity/published-clients.ts";
import { toolsThrough } from "../support/clients/sdk-clients.ts";

let world: PublishedClients;

beforeAll(async () => {
  world = await openPublishedClients();
});
afterAll(() => world?.[Symbol.asyncDispose]());

test("what clients look for says that they may publish their metadata instead of registering", async () => {
  for (const path of ["oauth-authorization-server", "openid-configuration"]) {
    const { body } = await world.person.send("GET", `/.well-known/${path}`);
    expect([path, body]).toEqual([
      path,
      expect.objectContaining({
        client_id_metadata_document_supported: true,
        token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]),
      }),
    ]);
  }
});

for (const generation of [1, 2] as const)
  test(`the v${generation} SDK's client signs in by its document, lists the tools and refreshes`, async () => {
    const url = world.publisher.publish(`/v${generation}.json`, { client_name: "An SDK's client" });
    const signingIn = new TestOAuthClient(world.person, REDIRECT, url);
    expect(await toolsThrough(`${world.publicUrl}/mcp`, signingIn, generation)).toContain("service_list_apps");
    expect((signingIn.clientInformation() as { client_id: string }).client_id).toBe(url);
    expect(await auth1(signingIn as never, { serverUrl: `${world.publicUrl}/mcp` })).toBe("AUTHORIZED");
    const [first, second] = signingIn.tokenResponses;
    expect([signingIn.tokenResponses.length, second?.refresh_token === first?.refresh_token]).toEqual([2, false]);
    const gateway = new GatewayClient(world.publicUrl, second?.access_token ?? "");
    expect((await gateway.call("tools/list")).status).toBe(200);
    expect(world.askedFor(`/v${generation}.json`)).toBe(1);
  });

test("whoever is not signed in is asked to, then to agree, and is told what the client calls itself", async () => {
  const url = world.publisher.publish("/sign-in.json", { client_name: "Ada's  client" });
  const stranger = new TestUser(world.publicUrl, world.person.email);
  const query = world.oauth.authorizeUrl(url, { resource: `${world.publicUrl}/mcp`, scope: "read", ...CHALLENGE });
  const asked = await stranger.send("GET", query.pathname + query.search);
  const page = new URL(String(asked.body["url"]), world.publicUrl);
  expect(page.pathname).toBe("/sign-in");
  const { email, password } = world.person;
  const signedIn = await stranger.post("/sign-in/email", { email, password, oauth_query: page.search.slice(1) });
  expect(new URL(String(signedIn.body["url"]), world.publicUrl).pathname).toBe("/consent");
  const { body } = await stranger.get(`/oauth2/public-client?${new URLSearchParams({ client_id: url }).toString()}`);
  expect(body).toEqual({ client_id: url, client_name: "Ada's  client", redirect_uris: [] });
});

test("people are sent back to what the document names alone, on any port of their own machine", async () => {
  const web = "https://client.example.com/callback";
  const url = world.publisher.publish("/redirects.json", {
    redirect_uris: [REDIRECT, web, "com.example.app:/callback"],
  });
  for (const uri of [REDIRECT, REDIRECT.replace("41999", "1"), web, "com.example.app:/callback"])
    expect([uri, (await world.authorize(url, { redirect_uri: uri })).to]).toEqual([uri, "/consent"]);
  const others = [
    ...[`${REDIRECT}/`, REDIRECT.replace("127.0.0.1", "localhost"), `${web}?more`, web.replace("https", "http")],
    ...["https://elsewhere.example.com/callback", web.replace("callback", "%63allback"), `${web}#x`],
  ];
  for (const uri of others)
    expect([uri, (await world.authorize(url, { redirect_uri: uri })).to]).toEqual([uri, "/api/auth/error"]);
  const unproven = new URL((await world.authorize(url, { code_challenge: "", code_challenge_method: "" })).to);
  expect([unproven.href.startsWith(REDIRECT), unproven.searchParams.get("error")]).toEqual([true, "invalid_request"]);
});

test("however many want the same document at once, its server is asked once, and not again while it stays right", async () => {
  const path = "/shared.json";
  const url = world.publisher.publish(path, {}, { "cache-control": "no-store" });
  const answers = await Promise.all(Array.from({ length: 8 }, () => world.authorize(url)));
  expect(answers.map(({ to }) => to)).toEqual(Array.from({ length: 8 }, () => "/consent"));
  await world.authorize(url);
  expect(world.askedFor(path)).toBe(1);
  await world.expire(url);
  expect((await world.authorize(url)).to).toBe("/consent");
  expect(world.askedFor(path)).toBe(2);
});

test("an address that a document no longer names is refused, and people who agreed to another client are asked again", async () => {
  const path = "/changing.json";
  const [old, added] = [REDIRECT, "https://client.example.com/added"];
  const url = world.publisher.publish(path, { redirect_uris: [old] });
  const resource = `${world.publicUrl}/mcp`;
  const granted = await world.oauth.grantTo(url, { resource, scope: "read offline_access" });
  expect(granted.status).toBe(200);
  const silently = async (redirect: string) =>
    (await world.authorize(url, { redirect_uri: redirect, scope: "read offline_access" })).to;
  // Read again, and nothing has changed.
  await world.expire(url);
  expect(await silently(old)).toMatch(/^http:.*[?&]code=/);
  world.publisher.publish(path, { redirect_uris: [old, added] });
  expect(await silently(added)).toBe("/api/auth/error");
  await world.expire(url);
  expect([await silently(added), await silently(old)]).toEqual(["/consent", "/consent"]);
  await world.oauth.grantTo(url, { resource, scope: "read offline_access" });
  world.publisher.publish(path, { redirect_uris: [added] });
  await world.expire(url);
  expect([await silently(old), await silently(added)]).toEqual(["/api/auth/error", expect.stringContaining("code=")]);
  world.publisher.publish(path, { redirect_uris: [added], client_name: "Another name" });
  await world.expire(url);
  expect([await silently(added), await world.count("oauthConsent", url)]).toEqual(["/consent", 0]);
  // What was granted stays with the one who has it.
  const refresh = { grant_type: "refresh_token", refresh_token: String(granted.body["refresh_token"]), client_id: url };
  expect((await world.oauth.requestToken(refresh)).status).toBe(200);
});

test("a client whose document cannot be read any more goes on with what it has, and nobody new lets it in", async () => {
  const path = "/fading.json";
  const url = world.publisher.publish(path);
  const { body } = await world.oauth.grantTo(url, { resource: `${world.publicUrl}/mcp`, scope: "read offline_access" });
  world.publisher.answer(path, (_request, response) => response.writeHead(410).end());
  await world.expire(url);
  expect((await world.authorize(url)).status).toBe(400);
  const refresh = { grant_type: "refresh_token", refresh_token: String(body["refresh_token"]), client_id: url };
  expect((await world.oauth.requestToken(refresh)).status).toBe(200);
});

test("a client that an operator has disabled stays so, whatever its document says, and is not read again", async () => {
  const url = world.publisher.publish("/disabled.json");
  expect((await world.authorize(url)).to).toBe("/consent");
  const em = world.harness.service.parts.orm.em.fork();
  await em.execute(`update auth."oauthClient" set disabled = true where "clientId" = ?`, [url]);
  await world.expire(url);
  expect([(await world.authorize(url)).to, world.askedFor("/disabled.json")]).toEqual(["/api/auth/error", 1]);
});

test("a client may prove itself with the keys of its document, and nothing else that a document names is asked", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const links = ["logo_uri", "client_uri", "tos_uri", "policy_uri", "jwks_uri", "sector_identifier_uri"];
  const elsewhere = Object.fromEntries(links.map((link) => [link, world.publisher.url(`/${link}`)]));
  const proven = { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [await exportJWK(publicKey)] } };
  const unknown = { scope: "of another server", grant_types: ["authorization_code", "urn:example:other"], unknown: {} };
  const url = world.publisher.publish("/keys.json", { ...elsewhere, ...proven, ...unknown });
  const asked = { resource: `${world.publicUrl}/mcp`, scope: "read", prompt: "consent" };
  const endpoint = `${world.publicUrl}/api/auth/oauth2/token`;
  const assertion = async (key: CryptoKey): Promise<Record<string, string>> => ({
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await new SignJWT({ jti: randomBytes(16).toString("hex") })
      .setProtectedHeader({ alg: "ES256" })
      .setIssuer(url)
      .setSubject(url)
      .setAudience(endpoint)
      .setExpirationTime("1m")
      .sign(key),
  });
  const other = (await generateKeyPair("ES256")).privateKey;
  expect((await world.oauth.grantTo(url, asked)).status).toBe(400);
  expect((await world.oauth.grantTo(url, asked, await assertion(other))).status).toBeGreaterThanOrEqual(400);
  const granted = await world.oauth.grantTo(url, asked, await assertion(privateKey));
  expect([granted.status, granted.body]).toMatchObject([200, { access_token: expect.any(String) }]);
  expect(links.filter((link) => world.askedFor(`/${link}`) > 0)).toEqual([]);
});
