import { createHash } from "node:crypto";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedIdentityServer, startIdentityServer } from "../support/identity/identity-server.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { CLIENTS, type SocialProviders, startSocialProviders } from "../support/identity/social-providers.ts";
import { authorizeWithConsent } from "../support/identity/test-oauth-client.ts";
import { TestUser } from "../support/identity/test-user.ts";

let providers: SocialProviders;
const server = sharedIdentityServer({ config: { social: CLIENTS } });

beforeAll(async () => {
  providers = await startSocialProviders();
});
afterAll(() => providers?.[Symbol.asyncDispose]());

const execute = (sql: string, parameters: unknown[] = []) =>
  server().orm.em.fork().execute<Record<string, unknown>[]>(sql, parameters);

async function signUp(): Promise<{ user: TestUser; oauth: OAuthRequests }> {
  const user = new TestUser(server().url);
  expect((await user.signUp()).status).toBe(200);
  return { user, oauth: new OAuthRequests(server().url, user) };
}

test("a sign-in with a provider stores none of its tokens, and only a successful one is in the audit log", async () => {
  const user = new TestUser(server().url);
  const start = async () =>
    String((await user.post("/sign-in/social", { provider: "google", callbackURL: "/" })).body["url"]);
  const declined = providers.decline(await start());
  await user.visit(declined.pathname + declined.search);
  const account = { subject: "1", email: "grace@example.com", verified: true };
  const redirect = providers.consent(await start(), account);
  expect((await user.visit(redirect.pathname + redirect.search)).headers.get("location")).toBe("/");
  const none = { accessToken: null, refreshToken: null, idToken: null };
  expect(
    await execute(
      `select "accessToken", "refreshToken", "idToken", "accessTokenExpiresAt", "refreshTokenExpiresAt"
       from auth.account where "providerId" = 'google'`,
    ),
  ).toEqual([{ ...none, accessTokenExpiresAt: null, refreshTokenExpiresAt: null }]);
  const { id } = (await user.get("/get-session")).body["user"] as { id: string };
  const callbacks = `select user_id, outcome from audit_events where action like 'callback/%'`;
  expect(await execute(callbacks)).toEqual([{ user_id: id, outcome: "done" }]);
});

test("a client is sent to the sign-in page of the service, and gets no claims that it requests separately", async () => {
  const { user, oauth } = await signUp();
  const clientId = await oauth.register();
  const verifier = "v".repeat(43);
  const query = {
    scope: "openid",
    claims: JSON.stringify({ userinfo: { email: null } }),
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  const url = oauth.authorizeUrl(clientId, query);
  const signedOut = await new TestUser(server().url).send("GET", url.pathname + url.search);
  const page = signedOut.headers.get("location") ?? String(signedOut.body["url"]);
  expect(new URL(page, server().url).pathname).toBe("/sign-in");
  const redirect = await authorizeWithConsent(user, url);
  const consents = `select "requestedUserInfoClaims" as claims from auth."oauthConsent" where "clientId" = ?`;
  expect(await execute(consents, [clientId])).toEqual([{ claims: [] }]);
  const { body } = await oauth.requestToken({
    grant_type: "authorization_code",
    client_id: clientId,
    code: String(redirect.get("code")),
    code_verifier: verifier,
    redirect_uri: String(url.searchParams.get("redirect_uri")),
  });
  const { aud } = decodeJwt(String(body["access_token"]));
  expect([aud].flat()).toContain(`${server().url}/mcp`);
  const bearer = { headers: { authorization: `Bearer ${String(body["access_token"])}` } };
  const { body: claims } = await new TestUser(server().url).send("GET", "/api/auth/oauth2/userinfo", bearer);
  expect(Object.keys(claims)).toEqual(["sub"]);
});

test("a device that names no resource gets a token for the gateway, for 15 minutes", async () => {
  const { user, oauth } = await signUp();
  const clientId = await oauth.registerDeviceClient();
  const { body: device } = await oauth.requestDeviceCode(clientId, undefined, "read");
  await user.get(`/device?user_code=${String(device["user_code"])}`);
  expect((await user.post("/device/approve", { userCode: device["user_code"] })).status).toBe(200);
  const { body } = await oauth.requestDeviceToken(clientId, String(device["device_code"]), undefined);
  expect(decodeJwt(String(body["access_token"]))).toMatchObject({ aud: `${server().url}/mcp`, scope: "read" });
  expect(body["expires_in"]).toBe(900);
});

test("metadata documents are offered if the internet can be reached, and the offer waits for the first check", async () => {
  const fetcher = { fetch: () => Promise.reject(new Error("offline")), canReachInternet: () => Promise.resolve(true) };
  const known = Promise.withResolvers<void>();
  const reachability = { isReachable: false, untilKnown: () => known.promise };
  await using waiting = await startIdentityServer({
    clientMetadata: { fetcher, reachability: reachability as never },
  });
  const user = new TestUser(waiting.url);
  const readOffer = async (target = user) => {
    const { body } = await target.send("GET", "/.well-known/oauth-authorization-server");
    return body["client_id_metadata_document_supported"];
  };
  const offer = readOffer();
  expect((await user.get("/ok")).status).toBe(200);
  reachability.isReachable = true;
  known.resolve();
  expect(await offer).toBe(true);
  reachability.isReachable = false;
  expect(await readOffer()).toBeUndefined();
  await using always = await startIdentityServer({ clientMetadata: { fetcher, reachability: null } });
  expect([await readOffer(new TestUser(always.url)), await readOffer(new TestUser(server().url))]).toEqual([
    true,
    undefined,
  ]);
});

test("a token has the requested scopes and resource, names no organization that was not chosen, and no unknown scope", async () => {
  const { oauth } = await signUp();
  const { body } = await oauth.grant(`${server().url}/v1`, "read deploy");
  expect(decodeJwt(String(body["access_token"]))).toMatchObject({ aud: `${server().url}/v1`, scope: "read deploy" });
  expect(decodeJwt(String(body["access_token"]))).not.toHaveProperty("org_id");
  const granted = await oauth.grant(`${server().url}/v1`, "read unknown");
  expect(decodeJwt(String(granted.body["access_token"]))).toMatchObject({ scope: "read" });
});
