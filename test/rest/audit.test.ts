import { expect, test } from "vitest";
import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { refusalOf, rpcClient } from "../support/clients/rpc-client.ts";
import { createHarness } from "../support/service/harness.ts";

test("the audit log tells its owners who did what to what from where, and holds no secret", async () => {
  await using harness = await createHarness();
  const { publicUrl, bootstrapped } = harness.service;
  const owner = new TestUser(publicUrl);
  const { body } = await owner.signUp();
  const userId = (body["user"] as { id: string }).id;
  const access = await owner.accessToken();
  const rpc = rpcClient(publicUrl, access);
  const key = await rpc.tokens.issue.mutate({ kind: "api_key", name: "CI", scope: "deploy" });
  const rest = new RestClient(publicUrl, key.token);
  const app = await rest.deploy({ repo: "acme/site" });
  await rest.delete(`/v1/apps/${String(app.body["app_id"])}`);
  await rest.deploy({ repo: "not a repository" });
  await rpc.apps.list.query();
  await owner.signIn("a wrong password");
  await owner.post("/organization/invite-member", {
    email: "guest@example.com",
    role: "member",
    organizationId: bootstrapped!.org_id,
  });
  const { events } = await rpc.audit.list.query({});
  const said = events.map(({ action, outcome, user_id, credential_kind, target }) => [
    action,
    outcome,
    user_id,
    credential_kind,
    target,
  ]);
  expect(said).toContainEqual(["tokens.issue", "done", userId, "access_token", key.id]);
  expect(said).toContainEqual(["apps.deploy", "done", userId, "api_key", app.body["app_id"]]);
  expect(said).toContainEqual(["apps.delete", "refused", userId, "api_key", app.body["app_id"]]);
  expect(said).toContainEqual(["organization/invite-member", "done", userId, "session", bootstrapped!.org_id]);
  expect(said).toContainEqual(["sign-up/email", "done", userId, "session", null]);
  expect(said).toContainEqual(["sign-in/email", "refused", userId, null, null]);
  expect(said.filter(([action]) => action === "apps.deploy")).toHaveLength(1);
  expect(events.every(({ address }) => address === "127.0.0.1")).toBe(true);
  for (const secret of [key.token, access, owner.password, "a wrong password"])
    expect(JSON.stringify(events)).not.toContain(secret);
});

test("the audit log is read a page at a time, by owners alone", async () => {
  await using harness = await createHarness();
  const tenant = await harness.tenant();
  const em = harness.service.parts.orm.em.fork();
  await em.execute(
    `insert into audit_events (id, org_id, action, outcome, created_at)
     select gen_random_uuid(), ?, 'apps.deploy', 'done', now() - (n / 3) * interval '1 second' from generate_series(1, 250) n`,
    [tenant.org_id],
  );
  expect((await tenant.rest.get("/v1/audit-events")).status).toBe(403);
  const owner = new TestUser(harness.service.publicUrl);
  const invitationId = await harness.inviteOwner(tenant, owner.email);
  await owner.signUp({ invitationId });
  await owner.post("/organization/accept-invitation", { invitationId });
  const rpc = rpcClient(harness.service.publicUrl, await owner.accessToken());
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof rpc.audit.list.query>> = await rpc.audit.list.query(
      cursor === null ? {} : { cursor },
    );
    seen.push(...page.events.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect([seen.length >= 250, new Set(seen).size]).toEqual([true, seen.length]);
  const never = Buffer.from(`2026-13-45T00:00:00.000Z ${tenant.org_id}`).toString("base64url");
  for (const wrong of ["x", never])
    expect(await refusalOf(rpc.audit.list.query({ cursor: wrong }))).toMatchObject({ status: 400 });
});
