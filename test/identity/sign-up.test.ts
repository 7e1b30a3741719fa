import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { listMissingStatements } from "../../server/identity/open-auth.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";

test("the migrations create every table and column that better-auth needs", async () => {
  await using harness = await createHarness();
  expect(await listMissingStatements(harness.service.parts.orm)).toEqual([]);
});

test("the first user to sign up owns the first organization, whose printed tokens expire at once, and no others", async () => {
  await using harness = await createHarness();
  const { publicUrl, bootstrapped } = harness.service;
  const before = new RestClient(publicUrl, bootstrapped!.api_key);
  const gateway = new GatewayClient(publicUrl, bootstrapped!.personal_access_token);
  expect([(await before.get("/v1/apps")).status, (await gateway.call("tools/list")).status]).toEqual([200, 200]);
  const issued = await before.post("/v1/tokens", { kind: "api_key", name: "First API key" });
  const user = new TestUser(publicUrl);
  const signedUp = await user.signUp();
  expect([signedUp.status, signedUp.text]).toEqual([200, expect.stringContaining(user.email)]);
  expect(signedUp.headers.getSetCookie()).toEqual([expect.stringMatching(/HttpOnly.*SameSite=Lax/i)]);
  const rest = new RestClient(publicUrl, await user.accessToken());
  const app = await rest.deploy({ repo: "acme/site" });
  const detail = await rest.get(`/v1/apps/${String(app.body["app_id"])}`);
  expect(detail.body).toMatchObject({
    org_id: bootstrapped!.org_id,
    created_by: (signedUp.body["user"] as { id: string }).id,
  });
  expect([(await before.get("/v1/apps")).status, (await gateway.call("tools/list")).status]).toEqual([401, 401]);
  expect((await rest.as(String(issued.body["token"])).get("/v1/apps")).body["apps"]).toHaveLength(1);
});

test("the first user to sign up becomes the creator of the apps and deployments from before the sign-up", async () => {
  await using harness = await createHarness();
  const { publicUrl, bootstrapped, parts } = harness.service;
  const deployed = await new RestClient(publicUrl, bootstrapped!.api_key).deploy({ repo: "acme/site" });
  const appId = String(deployed.body["app_id"]);
  const user = new TestUser(publicUrl);
  const userId = ((await user.signUp()).body["user"] as { id: string }).id;
  const detail = await new RestClient(publicUrl, await user.accessToken()).get(`/v1/apps/${appId}`);
  expect(detail.body).toMatchObject({ user_id: userId, created_by: userId });
  const sql = "select created_by from deployments where app_id = ?";
  expect(await parts.orm.em.fork().execute(sql, [appId])).toEqual([{ created_by: userId }]);
});

async function countRows({ service }: Harness): Promise<Record<string, unknown>> {
  const [counts] = await service.parts.orm.em.fork().execute<Record<string, unknown>[]>(
    `select (select count(*)::int from auth."user") as users, (select count(*)::int from auth.account) as accounts,
       (select count(*)::int from auth.session) as sessions, (select count(*)::int from auth.member) as members`,
  );
  return counts!;
}

test.for([
  ["an installation with a first organization", false],
  ["an installation without an organization", true],
] as const)(
  "in %s, one of several simultaneous first sign-ups succeeds, and the others leave no rows",
  async ([, production]) => {
    await using harness = await createHarness({ config: { production } });
    const { publicUrl } = harness.service;
    const users = Array.from({ length: 5 }, () => new TestUser(publicUrl));
    const responses = await Promise.all(users.map((user) => user.signUp()));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 403, 403, 403, 403]);
    const { body } = responses.find(({ status }) => status === 403)!;
    expect(body).toEqual({ code: "SIGN_UP_REFUSED", message: "You need an invitation to sign up." });
    expect(await countRows(harness)).toEqual({ users: 1, accounts: 1, sessions: 1, members: production ? 0 : 1 });
    const first = users[responses.findIndex(({ status }) => status === 200)]!;
    expect((await first.post("/organization/create", { name: "Acme", slug: "acme" })).status).toBe(200);
    const rest = new RestClient(publicUrl, await first.accessToken());
    expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
  },
);

test("with SIGN_UP=open, all of several simultaneous first sign-ups succeed, and one user owns the organization", async () => {
  await using harness = await createHarness({ config: { signUp: "open" } });
  const users = Array.from({ length: 4 }, () => new TestUser(harness.service.publicUrl));
  const responses = await Promise.all(users.map((user) => user.signUp()));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await countRows(harness)).toEqual({ users: 4, accounts: 4, sessions: 4, members: 1 });
});

test("with SIGN_UP=invite, a later sign-up requires the id of the invitation and the invited email address", async () => {
  await using harness = await createHarness();
  const { publicUrl, bootstrapped } = harness.service;
  const owner = new TestUser(publicUrl);
  await owner.signUp();
  const uninvited = new TestUser(publicUrl);
  expect((await uninvited.signUp()).status).toBe(403);
  const invited = new TestUser(publicUrl, "Guest@Example.com");
  const invitation = await owner.post("/organization/invite-member", {
    email: invited.email,
    role: "member",
    organizationId: bootstrapped!.org_id,
  });
  expect(invitation.status).toBe(200);
  const invitationId = String(invitation.body["id"]);
  for (const fields of [{}, { invitationId: "x" }, { invitationId: randomUUID() }])
    expect((await invited.signUp(fields)).status).toBe(403);
  expect((await uninvited.signUp({ invitationId })).status).toBe(403);
  expect((await invited.signUp({ invitationId })).status).toBe(200);
  const rest = new RestClient(publicUrl, await invited.accessToken());
  expect((await rest.get("/v1/apps")).status).toBe(403);
  expect((await invited.get("/organization/list-user-invitations")).status).toBe(404);
  expect((await invited.post("/organization/accept-invitation", { invitationId })).status).toBe(200);
  expect((await rest.get("/v1/apps")).status).toBe(200);
});

test("with SIGN_UP=open, a later user has no organization until they create one, which has the default plan", async () => {
  await using harness = await createHarness({ config: { signUp: "open" } });
  const { publicUrl } = harness.service;
  await new TestUser(publicUrl).signUp();
  const second = new TestUser(publicUrl);
  expect((await second.signUp()).status).toBe(200);
  const rest = new RestClient(publicUrl, await second.accessToken());
  expect((await rest.get("/v1/apps")).status).toBe(403);
  expect((await second.post("/organization/create", { name: "Second", slug: "second" })).status).toBe(200);
  expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
});

test("with SIGN_UP=closed, only the first user can sign up, and never with a reserved email address", async () => {
  await using harness = await createHarness({ config: { signUp: "closed" } });
  const { publicUrl } = harness.service;
  for (const email of ["x@placeholder.invalid", "y@oidc.invalid", "root@localhost.localdomain"])
    expect((await new TestUser(publicUrl, email).signUp()).status).toBe(403);
  expect((await new TestUser(publicUrl).signUp()).status).toBe(200);
  expect((await new TestUser(publicUrl).signUp()).status).toBe(403);
});

test("a user who accepts the operator's invitation as owner claims the organization", async () => {
  await using harness = await createHarness();
  const { publicUrl } = harness.service;
  await new TestUser(publicUrl).signUp();
  const tenant = await harness.tenant();
  const owner = new TestUser(publicUrl);
  const invitationId = await harness.inviteOwner(tenant, owner.email);
  expect((await owner.signUp({ invitationId })).status).toBe(200);
  expect((await owner.post("/organization/accept-invitation", { invitationId })).status).toBe(200);
  const members = await owner.get(`/organization/get-full-organization?organizationId=${tenant.org_id}`);
  expect(members.body["members"]).toMatchObject([{ role: "owner", user: { email: owner.email } }]);
  expect((await new GatewayClient(publicUrl, tenant.personal_access_token).call("tools/list")).status).toBe(200);
});

test("a user who may not sign up cannot find out which email addresses have an account", async () => {
  for (const signUp of ["invite", "closed"] as const) {
    await using harness = await createHarness({ config: { signUp } });
    const { publicUrl } = harness.service;
    const owner = new TestUser(publicUrl);
    await owner.signUp();
    const [known, unknown] = [new TestUser(publicUrl, owner.email), new TestUser(publicUrl)];
    const [takenAddress, freeAddress] = [await known.signUp(), await unknown.signUp()];
    expect([takenAddress.status, takenAddress.text]).toEqual([403, freeAddress.text]);
    const [wrongPassword, noAccount] = [await known.signIn("wrong password"), await unknown.signIn("wrong password")];
    expect([wrongPassword.status, wrongPassword.text]).toEqual([noAccount.status, noAccount.text]);
  }
});
