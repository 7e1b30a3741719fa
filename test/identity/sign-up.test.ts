import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { listMissingStatements } from "../../server/identity/open-auth.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";

test("the migrations leave the identity provider nothing to add", async () => {
  await using harness = await createHarness();
  expect(await listMissingStatements(harness.service.parts.orm)).toEqual([]);
});

test("the first person to sign up owns the first organization, and its tokens stay good", async () => {
  await using harness = await createHarness();
  const { publicUrl, bootstrapped } = harness.service;
  const person = new TestUser(publicUrl);
  const signedUp = await person.signUp();
  expect([signedUp.status, signedUp.text]).toEqual([200, expect.stringContaining(person.email)]);
  for (const cookie of signedUp.headers.getSetCookie()) expect(cookie).toMatch(/HttpOnly.*SameSite=Lax/i);
  const rest = new RestClient(publicUrl, await person.accessToken());
  const app = await rest.deploy({ repo: "acme/site" });
  const detail = await rest.get(`/v1/apps/${String(app.body["app_id"])}`);
  expect(detail.body).toMatchObject({
    org_id: bootstrapped!.org_id,
    created_by: (signedUp.body["user"] as { id: string }).id,
  });
  expect((await rest.as(bootstrapped!.api_key).get("/v1/apps")).body["apps"]).toHaveLength(1);
  expect((await new GatewayClient(publicUrl, bootstrapped!.personal_access_token).call("tools/list")).status).toBe(200);
});

/** What is left of people in the database. */
async function left({ service }: Harness): Promise<Record<string, unknown>> {
  const [counts] = await service.parts.orm.em.fork().execute<Record<string, unknown>[]>(
    `select (select count(*) from auth."user")::int as people, (select count(*) from auth.account)::int as accounts,
     (select count(*) from auth.session)::int as sessions, (select count(*) from auth.member)::int as members`,
  );
  return counts!;
}

test.for([
  ["where the first start made an organization", false],
  ["where there is none yet", true],
] as const)(
  "of several who sign up first at once, one is the first and nothing is left of the others, %s",
  async (row) => {
    const [, production] = row;
    await using harness = await createHarness({ config: { production } });
    const { publicUrl } = harness.service;
    const people = Array.from({ length: 5 }, () => new TestUser(publicUrl));
    const answers = await Promise.all(people.map((person) => person.signUp()));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403, 403, 403]);
    const { body } = answers.find(({ status }) => status === 403)!;
    expect(body).toEqual({ code: "SIGN_UP_REFUSED", message: "You need an invitation to sign up." });
    expect(await left(harness)).toEqual({ people: 1, accounts: 1, sessions: 1, members: production ? 0 : 1 });
    const first = people[answers.findIndex(({ status }) => status === 200)]!;
    expect((await first.post("/organization/create", { name: "Acme", slug: "acme" })).status).toBe(200);
    const rest = new RestClient(publicUrl, await first.accessToken());
    expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
  },
);

test("of several who sign up first at once where everybody may, one owns the organization and all may sign in", async () => {
  await using harness = await createHarness({ config: { signUp: "open" } });
  const people = Array.from({ length: 4 }, () => new TestUser(harness.service.publicUrl));
  const answers = await Promise.all(people.map((person) => person.signUp()));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await left(harness)).toEqual({ people: 4, accounts: 4, sessions: 4, members: 1 });
});

test("later sign-up follows SIGN_UP: an invitation, by its id and not by the address alone", async () => {
  await using harness = await createHarness();
  const { publicUrl, bootstrapped } = harness.service;
  const owner = new TestUser(publicUrl);
  await owner.signUp();
  const stranger = new TestUser(publicUrl);
  expect((await stranger.signUp()).status).toBe(403);
  const guest = new TestUser(publicUrl, "Guest@Example.com");
  const invited = await owner.post("/organization/invite-member", {
    ...{ email: guest.email, role: "member", organizationId: bootstrapped!.org_id },
  });
  expect(invited.status).toBe(200);
  const invitationId = String(invited.body["id"]);
  for (const more of [{}, { invitationId: "x" }, { invitationId: randomUUID() }])
    expect((await guest.signUp(more)).status).toBe(403);
  expect((await stranger.signUp({ invitationId })).status).toBe(403);
  expect((await guest.signUp({ invitationId })).status).toBe(200);
  const rest = new RestClient(publicUrl, await guest.accessToken());
  expect((await rest.get("/v1/apps")).status).toBe(403);
  expect((await guest.get("/organization/list-user-invitations")).status).toBe(404);
  expect((await guest.post("/organization/accept-invitation", { invitationId })).status).toBe(200);
  expect((await rest.get("/v1/apps")).status).toBe(200);
});

test("whoever signs up openly belongs nowhere until they found an organization, with the default plan", async () => {
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

test("nobody signs up later when sign-up is closed, nor ever under an address of the service's own", async () => {
  await using harness = await createHarness({ config: { signUp: "closed" } });
  const { publicUrl } = harness.service;
  for (const email of ["x@placeholder.invalid", "y@oidc.invalid", "root@localhost.localdomain"])
    expect((await new TestUser(publicUrl, email).signUp()).status).toBe(403);
  expect((await new TestUser(publicUrl).signUp()).status).toBe(200);
  expect((await new TestUser(publicUrl).signUp()).status).toBe(403);
});

test("a person takes the place that an operator kept for the owner", async () => {
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
