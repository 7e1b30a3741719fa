import { createHmac, randomUUID } from "node:crypto";
import { symmetricDecrypt } from "better-auth/crypto";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { INTERNAL_ERROR } from "../../domain/shared/errors.ts";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { authOptions } from "../../server/identity/auth-options.ts";
import { listMissingStatements } from "../../server/identity/open-auth.ts";
import { openClientPublisher } from "../support/identity/client-publisher.ts";
import { givenMember } from "../support/identity/given-user.ts";
import { sharedIdentityServer, startIdentityServer } from "../support/identity/identity-server.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { CHALLENGE } from "../support/identity/published-clients.ts";
import { CLIENTS, startSocialProviders } from "../support/identity/social-providers.ts";
import { TestUser } from "../support/identity/test-user.ts";

const server = sharedIdentityServer();
const ORIGIN = "https://service.example.com";
const [DEBUG_LEVEL, ERROR_LEVEL] = [20, 50];
const DAY_SECONDS = 86_400;

async function signUp(): Promise<TestUser> {
  const user = new TestUser(server().url);
  expect((await user.signUp()).status).toBe(200);
  return user;
}

function optionsWith(fields: Partial<Parameters<typeof authOptions>[0]> = {}) {
  return authOptions({
    publicUrl: ORIGIN,
    secret: "secret",
    social: { github: null, google: null },
    clientMetadataRegistration: null,
    resolveConsentedOrganization: () => Promise.resolve("none"),
    hooks: {},
    ...fields,
  });
}

test("the protection of users does not depend on defaults of better-auth, which differ in a test environment", () => {
  expect(optionsWith()).toMatchObject({
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    account: { accountLinking: { enabled: false }, encryptOAuthTokens: true, updateAccountOnSignIn: false },
    session: { expiresIn: 7 * DAY_SECONDS, updateAge: DAY_SECONDS, cookieCache: { enabled: false } },
    emailAndPassword: { minPasswordLength: 10, revokeSessionsOnPasswordReset: true },
    advanced: {
      disableOriginCheck: false,
      disableCSRFCheck: false,
      database: { validateSchema: false },
      ipAddress: { ipAddressHeaders: ["x-client-address"] },
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax" },
    },
  });
});

test("cookies are secure and bound to the host only with https", () => {
  const cookiesOf = (publicUrl: string) => {
    const { defaultCookieAttributes, cookiePrefix } = optionsWith({ publicUrl }).advanced;
    return [defaultCookieAttributes.secure, cookiePrefix];
  };
  expect(cookiesOf(ORIGIN)).toEqual([true, "__Host-service"]);
  expect(cookiesOf("http://localhost:3000")).toEqual([false, "service"]);
});

test("a cookie has the name of the service, and is readable neither by scripts nor by other sites", async () => {
  const { headers } = await new TestUser(server().url).signUp();
  expect(headers.getSetCookie()).toEqual([
    expect.stringMatching(/^service\.session_token=.*; Path=\/; HttpOnly; SameSite=Lax$/),
  ]);
});

test("users can sign in with exactly the configured providers", () => {
  const { github, google } = CLIENTS;
  for (const social of [CLIENTS, { github, google: null }, { github: null, google }, { github: null, google: null }]) {
    const configured = Object.fromEntries(Object.entries(social).filter(([, client]) => client !== null));
    expect(optionsWith({ social }).socialProviders).toEqual(configured);
  }
});

test("clients with a metadata document are accepted only if there is a plugin for them", () => {
  const plugin = { id: "metadata-documents" };
  const idsOf = (options: ReturnType<typeof optionsWith>) => options.plugins.map(({ id }) => id);
  const ids = idsOf(optionsWith());
  expect(idsOf(optionsWith({ clientMetadataRegistration: plugin }))).toEqual([...ids, plugin.id]);
  expect(ids).not.toContain(plugin.id);
});

test("a user needs a password of ten characters", async () => {
  const statuses = ["123456789", "1234567890"].map(async (password) => {
    const user = new TestUser(server().url, undefined, password);
    return (await user.signUp()).status;
  });
  expect(await Promise.all(statuses)).toEqual([400, 200]);
});

test("an access token is valid for 15 minutes, and names the session and its active organization", async () => {
  const user = await signUp();
  const { body } = await user.get("/get-session");
  const { id: sid } = body["session"] as { id: string };
  const first = decodeJwt(await user.accessToken());
  expect(first).toMatchObject({ iss: server().url, aud: server().url, sid, active_org: null });
  expect(first.exp! - first.iat!).toBe(15 * 60);
  const created = await user.post("/organization/create", { name: "Acme", slug: randomUUID() });
  expect(decodeJwt(await user.accessToken())["active_org"]).toBe(created.body["id"]);
});

test("a session token is in no header but the cookie, and must be signed to be accepted instead of it", async () => {
  const user = await signUp();
  const { headers, body } = await user.get("/get-session");
  expect(headers.get("set-auth-jwt")).toBeNull();
  const { token } = body["session"] as { token: string };
  const [cookie] = user.browserCookies();
  const readSession = async (bearer: string) => {
    const request = { headers: { authorization: `Bearer ${bearer}` } };
    return (await new TestUser(server().url).send("GET", "/api/auth/get-session", request)).body["session"];
  };
  expect(await readSession(decodeURIComponent(cookie!.value))).toMatchObject({ token });
  expect([token, await readSession(token)]).toEqual([expect.any(String), undefined]);
});

test("404 is returned for the invitations of an address, for tests of passwords, and for changes of OAuth clients", async () => {
  const user = await signUp();
  expect((await user.get("/organization/list-user-invitations")).status).toBe(404);
  const paths = ["verify-password", "oauth2/create-client", "oauth2/update-client", "oauth2/client/rotate-secret"];
  for (const path of paths) expect([path, (await user.post(`/${path}`, {})).status]).toEqual([path, 404]);
});

test("403 rejects the 21st organization of a user, and 404 the deletion of an organization", async () => {
  const user = await signUp();
  const { id: userId } = (await user.get("/get-session")).body["user"] as { id: string };
  const create = () => user.post("/organization/create", { name: "Acme", slug: randomUUID() });
  const { body } = await create();
  const em = server().orm.em.fork();
  for (let at = 0; at < 18; at += 1) {
    const settings = { name: "Acme", email: "owner@example.com", plan: "free" };
    const { org_id: orgId } = await em.transactional((tx) => createOrganization(tx, settings));
    await givenMember(em, { orgId, userId, role: "member" });
  }
  expect([(await create()).status, (await create()).status]).toEqual([200, 403]);
  expect((await user.post("/organization/delete", { organizationId: body["id"] })).status).toBe(404);
});

test("simultaneous refreshes with one token get the same response", async () => {
  const oauth = new OAuthRequests(server().url, await signUp());
  const clientId = await oauth.register();
  const query = { resource: `${server().url}/mcp`, scope: "read offline_access" };
  const { body } = await oauth.grantTo(clientId, query);
  const form = { grant_type: "refresh_token", client_id: clientId, refresh_token: String(body["refresh_token"]) };
  const responses = await Promise.all(Array.from({ length: 6 }, () => oauth.requestToken({ ...form })));
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  expect(new Set(responses.map((response) => response.body["access_token"])).size).toBe(1);
});

test("a device shows the page of the service where its user enters the code", async () => {
  const oauth = new OAuthRequests(server().url, await signUp());
  const { body } = await oauth.requestDeviceCode(await oauth.registerDeviceClient(), undefined, "read");
  expect(body["verification_uri"]).toBe(`${server().url}/device`);
});

test("the keys that sign access tokens are encrypted with a key that is derived from the secret", async () => {
  await (await signUp()).accessToken();
  const sql = `select "privateKey", "expiresAt" > now() + interval '29 days' as valid from auth.jwks`;
  const [row] = await server().orm.em.fork().execute<{ privateKey: string; valid: boolean }[]>(sql);
  const key = createHmac("sha256", server().tokenSecret).update("identity").digest("base64url");
  const privateKey = await symmetricDecrypt({ key, data: JSON.parse(row!.privateKey) as string });
  expect([JSON.parse(privateKey), row!.valid]).toEqual([expect.objectContaining({ kty: "RSA" }), true]);
});

test("the schema of the identity provider is complete, and a missing table is created by the listed statements", async () => {
  const { orm } = server();
  expect(await listMissingStatements(orm)).toEqual([]);
  await using other = await startIdentityServer();
  const em = other.orm.em.fork();
  await em.execute(`drop table auth.jwks; alter table auth.invitation drop column role, drop column "createdAt"`);
  const statements = await listMissingStatements(other.orm);
  expect(statements).toEqual([
    'create schema if not exists "auth"',
    'alter table "auth"."invitation" add column "role" text',
    expect.stringMatching(/^alter table "auth"."invitation" add column "createdAt" [^;]+$/),
    expect.stringMatching(/^create table "auth"."jwks" \([^;]+\)$/),
  ]);
  for (const statement of statements) await em.execute(statement);
  expect(await listMissingStatements(other.orm)).toEqual([]);
});

test("a mistake of a user is not logged as an error, and an internal error is, without what the user typed", async () => {
  const user = await signUp();
  expect((await user.signIn("a wrong password")).status).toBe(401);
  expect((await user.post("/update-user", { name: "x" }, { origin: "https://elsewhere.example.com" })).status).toBe(
    403,
  );
  const errors = () =>
    server()
      .logged()
      .filter(({ level }) => level >= ERROR_LEVEL);
  expect(errors()).toEqual([]);
  const em = server().orm.em.fork();
  await em.execute("alter table auth.session rename to out_of_reach");
  try {
    expect((await user.signIn()).body).toEqual({ message: INTERNAL_ERROR });
  } finally {
    await em.execute("alter table auth.out_of_reach rename to session");
  }
  expect(errors()).toContainEqual(
    expect.objectContaining({ msg: "the identity provider failed", err: expect.any(Object) }),
  );
  expect(JSON.stringify(server().logged())).not.toContain(user.password);
});

test("what better-auth reports is logged as an error only with the error that caused it", async () => {
  await using providers = await startSocialProviders();
  await using social = await startIdentityServer({ config: { social: CLIENTS } });
  const user = new TestUser(social.url);
  await user.signUp();
  await user.signIn("a wrong password");
  const reports = () => social.logged().filter((line) => "identity" in line);
  await user.post("/update-user", { name: "x" }, { origin: "https://elsewhere.example.com" });
  expect(reports().map(({ level, identity, err }) => [level, identity, err])).toEqual([
    [DEBUG_LEVEL, "warn", undefined],
    [DEBUG_LEVEL, "error", undefined],
  ]);
  const { body } = await user.post("/sign-in/social", { provider: "github", callbackURL: "/" });
  const account = { subject: "1", email: "ada@example.com", verified: true };
  const redirect = providers.consent(String(body["url"]), account);
  providers.failure = "connection to token";
  await user.visit(redirect.pathname + redirect.search);
  const failure = { level: ERROR_LEVEL, identity: "error", err: expect.objectContaining({ message: "fetch failed" }) };
  expect(reports()).toContainEqual(expect.objectContaining(failure));
});

test("no client can publish its metadata at a host of the service or of its apps", async () => {
  await using publisher = await openClientPublisher();
  const clientMetadata = { fetcher: publisher.createFetcher(), reachability: null };
  const clientId = publisher.publish("/client.json");
  const authorize = async (publicUrl: string, appsDomain: string | null) => {
    await using other = await startIdentityServer({ publicUrl, clientMetadata, config: { appsDomain } });
    const oauth = new OAuthRequests(other.url, new TestUser(other.url));
    const url = oauth.authorizeUrl(clientId, { scope: "read", ...CHALLENGE });
    return (await new TestUser(other.url).send("GET", url.pathname + url.search)).body["error_description"];
  };
  const refused = expect.stringContaining("must not be on a host of this service") as string;
  expect(await authorize("https://client.example.com", null)).toEqual(refused);
  for (const domain of ["client.example.com", "Client.example.com:3001", "example.com"])
    expect([domain, await authorize(ORIGIN, domain)]).toEqual([domain, refused]);
  expect(publisher.requests).toEqual([]);
  for (const domain of [null, "apps.example.com"])
    expect([domain, await authorize(ORIGIN, domain)]).toEqual([domain, undefined]);
  expect(publisher.requests).toHaveLength(2);
});
