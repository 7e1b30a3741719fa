import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { clientNetwork } from "../../server/http/client-address.ts";
import { countFailedSignIn } from "../../domain/users/limit-sign-ins.ts";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import type { HttpResponse } from "../support/clients/rest-client.ts";
import { sharedIdentityServer, startIdentityServer } from "../support/identity/identity-server.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { CHALLENGE } from "../support/identity/published-clients.ts";
import { randomAddress, TestUser } from "../support/identity/test-user.ts";

const server = sharedIdentityServer();
const WRONG_PASSWORD = "wrong password";
const NEW_PASSWORD = "another horse battery";

/** Signs up a user with an organization. */
async function createUser() {
  const user = new TestUser(server().url);
  const { body } = await user.signUp();
  const { id: userId } = body["user"] as { id: string };
  const created = await user.post("/organization/create", { name: "Acme", slug: randomUUID() });
  return { user, userId, organizationId: String(created.body["id"]) };
}

/** Returns what a request announces. */
async function announcedBy(send: () => Promise<HttpResponse>, expectedStatus = 200): Promise<string[]> {
  const { announced } = server();
  const before = announced.length;
  expect((await send()).status).toBe(expectedStatus);
  return announced.slice(before);
}

interface StoredEvent {
  action: string;
  outcome: string;
  credential_kind: string | null;
  address: string | null;
}

/** The audit events of a user, by the name of the action. */
function eventsOf(userId: string): Promise<StoredEvent[]> {
  const sql = `select action, outcome, credential_kind, address from audit_events where user_id = ? order by action`;
  return server().orm.em.fork().execute<StoredEvent[]>(sql, [userId]);
}

test("a call that changes the access rights of a user is announced, and no other call", async () => {
  const { announced } = server();
  const { user, userId, organizationId } = await createUser();
  expect(announced.slice(-2)).toEqual([userId, userId]);
  const other = new TestUser(server().url, user.email);
  for (const [path, body] of [
    ["/organization/update", { organizationId, data: { name: "Other" } }],
    ["/revoke-other-sessions", {}],
    ["/change-password", { currentPassword: user.password, newPassword: NEW_PASSWORD }],
  ] as const)
    expect([path, await announcedBy(() => user.post(path, body))]).toEqual([path, [userId]]);
  expect(await announcedBy(() => other.signIn(NEW_PASSWORD))).toEqual([]);
  expect(await announcedBy(() => user.post("/update-user", { name: "Grace" }))).toEqual([]);
  expect(await announcedBy(() => user.get("/organization/list"))).toEqual([]);
  for (const path of ["/organization/has-permission", "/organization/check-slug"]) {
    const body = { organizationId, permissions: { member: ["create"] }, slug: randomUUID() };
    expect([path, await announcedBy(() => user.post(path, body))]).toEqual([path, []]);
  }
  const unknown = { organizationId: randomUUID() };
  expect(await announcedBy(() => user.post("/organization/leave", unknown), 400)).toEqual([]);
  expect(await announcedBy(() => user.post("/sign-out", {}))).toEqual([userId]);
  expect(await announcedBy(() => user.post("/sign-out", {}))).toEqual([]);
});

test("the audit log has the changes and the sign-ins of a user, and failed calls only if they are sign-ins", async () => {
  const { user, userId, organizationId } = await createUser();
  // The session is prolonged, and its cookie is sent again.
  const inFiveDays = `update auth.session set "expiresAt" = now() + interval '5 days' where "userId" = ?`;
  await server().orm.em.fork().execute(inFiveDays, [userId]);
  expect((await user.get("/get-session")).headers.getSetCookie()).toHaveLength(1);
  await user.get("/organization/list");
  const permissions = { organizationId, permissions: { member: ["create"] } };
  await user.post("/organization/has-permission", permissions);
  await user.post("/organization/check-slug", { slug: randomUUID() });
  await user.post("/organization/leave", { organizationId: randomUUID() });
  await user.post("/change-password", { currentPassword: WRONG_PASSWORD, newPassword: NEW_PASSWORD });
  const wrongPassword = { email: user.email, password: WRONG_PASSWORD };
  expect((await user.post("/sign-in/email", wrongPassword, { "x-forwarded-for": "192.0.2.7" })).status).toBe(401);
  await user.post("/sign-out", {});
  const [common, session] = [{ outcome: "done", address: "127.0.0.1" }, { credential_kind: "session" }];
  expect(await eventsOf(userId)).toEqual([
    { action: "organization/create", ...common, ...session },
    { action: "sign-in/email", outcome: "refused", credential_kind: null, address: "192.0.2.7" },
    { action: "sign-out", ...common, ...session },
    { action: "sign-up/email", ...common, ...session },
  ]);
});

test("a refused sign-up is recorded, without a user", async () => {
  const { user } = await createUser();
  expect((await new TestUser(server().url, user.email).signUp()).status).toBe(422);
  const sql = `select outcome, user_id from audit_events where action = 'sign-up/email' and outcome = 'refused'`;
  expect(await server().orm.em.fork().execute(sql)).toEqual([{ outcome: "refused", user_id: null }]);
});

test("429 limits wrong passwords of one account and address, in a sign-in and in a password change together", async () => {
  const { user } = await createUser();
  const address = randomAddress();
  const attempt = { network: clientNetwork(address), email: user.email };
  for (let at = 0; at < 8; at += 1) await countFailedSignIn(server().counter, attempt);
  const headers = { "x-forwarded-for": address };
  const change = (currentPassword: string, newPassword = NEW_PASSWORD) =>
    user.post("/change-password", { currentPassword, newPassword }, headers);
  const signIn = (password: string) => user.post("/sign-in/email", { email: user.email, password }, headers);
  // Other errors and a right password do not count.
  for (const password of ["short", "shorter"])
    expect((await change(user.password, password)).body).toMatchObject({ code: "PASSWORD_TOO_SHORT" });
  expect((await signIn(user.password)).status).toBe(200);
  expect((await change(WRONG_PASSWORD)).body).toMatchObject({ code: "INVALID_PASSWORD" });
  expect((await signIn(WRONG_PASSWORD)).status).toBe(401);
  for (const send of [() => change(user.password), () => signIn(user.password)]) {
    const { status, body, headers: responseHeaders } = await send();
    expect([status, body]).toEqual([429, { message: "Too many wrong passwords. Wait, then try again." }]);
    expect(responseHeaders.get("retry-after")).toMatch(/^[1-9]\d*$/);
  }
  expect((await user.post("/update-user", { name: "Grace" }, headers)).status).toBe(200);
  const elsewhere = { "x-forwarded-for": randomAddress() };
  const { email, password } = user;
  expect((await user.post("/sign-in/email", { email, password }, elsewhere)).status).toBe(200);
});

test("wrong passwords of a user who is not signed in count for their account only", async () => {
  const [{ user }, { user: other }] = [await createUser(), await createUser()];
  const address = randomAddress();
  for (let at = 0; at < 9; at += 1)
    await countFailedSignIn(server().counter, { network: clientNetwork(address), email: user.email });
  const signIn = async ({ email, password }: { email: string; password: string }) =>
    (await new TestUser(server().url).post("/sign-in/email", { email, password }, { "x-forwarded-for": address }))
      .status;
  expect(await signIn({ email: user.email, password: WRONG_PASSWORD })).toBe(401);
  expect([await signIn(user), await signIn(other)]).toEqual([429, 200]);
});

test("401 rejects a password change and a consent without a session", async () => {
  const change = { currentPassword: WRONG_PASSWORD, newPassword: NEW_PASSWORD };
  expect((await new TestUser(server().url).post("/change-password", change)).status).toBe(401);
  const signedOut = new TestUser(server().url);
  const oauth = new OAuthRequests(server().url, signedOut);
  const url = oauth.authorizeUrl(await oauth.register(), { scope: "read", ...CHALLENGE });
  const { headers, body } = await signedOut.send("GET", url.pathname + url.search);
  const { search } = new URL(headers.get("location") ?? String(body["url"]), server().url);
  const consent = { accept: true, oauth_query: search.slice(1) };
  expect((await signedOut.post("/oauth2/consent", consent)).status).toBe(401);
});

test("a password change ends the other sessions of the user, also if the request asks to keep them", async () => {
  const { user } = await createUser();
  const other = new TestUser(server().url, user.email);
  await other.signIn();
  const change = { currentPassword: user.password, newPassword: NEW_PASSWORD, revokeOtherSessions: false };
  expect((await user.post("/change-password", change)).status).toBe(200);
  expect((await user.get("/get-session")).body).toHaveProperty("user");
  expect((await other.get("/get-session")).text).toBe("null");
});

test("a user reads their own organization with the links of its invitations, and no other organization", async () => {
  const { user, organizationId } = await createUser();
  const { user: stranger } = await createUser();
  const invitation = { email: `${randomUUID()}@example.com`, role: "member", organizationId };
  const { body } = await user.post("/organization/invite-member", invitation);
  const path = `/organization/get-full-organization?organizationId=${organizationId}`;
  const link = `${server().url}/invitations/${String(body["id"])}`;
  expect((await user.get(path)).body["invitations"]).toMatchObject([{ link }]);
  const { status, body: error } = await stranger.get(path);
  expect([status, error["code"]]).toEqual([400, "ORGANIZATION_NOT_FOUND"]);
  expect((await stranger.get(path.replace(organizationId, "not-an-id"))).body["code"]).toBe("INVALID");
});

test("with SIGN_UP=invite, the first user owns the first organization, and no later one learns who has an account", async () => {
  await using invite = await startIdentityServer({ config: { signUp: "invite" } });
  const em = invite.orm.em.fork();
  const settings = { name: "First", email: null, plan: "free" };
  const { org_id: orgId } = await em.transactional((tx) => createOrganization(tx, settings));
  const owner = new TestUser(invite.url);
  const signedUp = await owner.signUp();
  const members = await em.execute(`select "userId" as id from auth.member where "organizationId" = ?`, [orgId]);
  expect(members).toEqual([{ id: (signedUp.body["user"] as { id: string }).id }]);
  const known = await new TestUser(invite.url, owner.email).signUp();
  const unknown = await new TestUser(invite.url).signUp();
  expect([known.status, known.body]).toEqual([403, unknown.body]);
  expect(known.body).toMatchObject({ code: "SIGN_UP_REFUSED" });
  expect((await owner.signIn()).status).toBe(200);
});

test("an authorization request, also in a form, gets the gateway as its resource, and asks for consent for a program", async () => {
  const { user } = await createUser();
  const oauth = new OAuthRequests(server().url, user);
  const program = "cursor://anysphere.cursor-mcp/oauth/callback";
  const clientId = await oauth.register({ redirect_uris: [program] });
  const { pathname, search } = oauth.authorizeUrl(clientId, { redirect_uri: program, dpop_jkt: "key", ...CHALLENGE });
  const form = { "content-type": "application/x-www-form-urlencoded", origin: server().url };
  const responses = [
    await user.send("GET", pathname + search),
    await user.send("POST", pathname, { body: search.slice(1), headers: form }),
  ];
  for (const { headers, body } of responses) {
    const page = new URL(headers.get("location") ?? String(body["url"]), server().url);
    const values = ["resource", "prompt", "dpop_jkt"].map((name) => page.searchParams.get(name));
    expect([page.pathname, ...values]).toEqual(["/consent", `${server().url}/mcp`, "consent", null]);
  }
});

test("a token request records the use of its client only if it succeeds", async () => {
  const { user } = await createUser();
  const oauth = new OAuthRequests(server().url, user);
  const clientId = await oauth.register();
  const isUsed = async () => {
    const sql = `select "lastUsedAt" is not null as used from auth."oauthClient" where "clientId" = ?`;
    return (await server().orm.em.fork().execute<{ used: boolean }[]>(sql, [clientId]))[0]?.used;
  };
  const tokenRequest = await oauth.authorize(clientId, { resource: `${server().url}/mcp`, scope: "read" });
  expect((await oauth.requestToken({ ...tokenRequest, code: "wrong" })).status).toBe(400);
  expect(await isUsed()).toBe(false);
  expect((await oauth.requestToken(tokenRequest)).status).toBe(200);
  expect(await isUsed()).toBe(true);
});
