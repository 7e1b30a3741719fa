import { expect, test } from "vitest";
import { signUpOwner } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcErrorOf, rpcClient } from "../support/clients/rpc-client.ts";
import { createHarness } from "../support/service/harness.ts";
import { verifies } from "../support/verifies.ts";

verifies(
  "audit.read",
  "the audit log contains actor, action, target and address of changes and sign-ins, and no secret",
  async () => {
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
    const summary = events.map(({ action, outcome, user_id, credential_kind, target }) => [
      action,
      outcome,
      user_id,
      credential_kind,
      target,
    ]);
    expect(summary).toContainEqual(["tokens.issue", "done", userId, "access_token", key.id]);
    expect(summary).toContainEqual(["apps.deploy", "done", userId, "api_key", app.body["app_id"]]);
    expect(summary).toContainEqual(["apps.delete", "refused", userId, "api_key", app.body["app_id"]]);
    expect(summary).toContainEqual(["organization/invite-member", "done", userId, "session", null]);
    expect(summary).toContainEqual(["sign-up/email", "done", userId, "session", null]);
    expect(summary).toContainEqual(["sign-in/email", "refused", userId, null, null]);
    expect(summary.filter(([action]) => action === "apps.deploy")).toHaveLength(1);
    expect(events.every(({ address }) => address === "127.0.0.1")).toBe(true);
    for (const secret of [key.token, access, owner.password, "a wrong password"])
      expect(JSON.stringify(events)).not.toContain(secret);
  },
);

test("the audit log has pages of 100 events, requires the role owner and rejects an invalid cursor", async () => {
  await using harness = await createHarness();
  const tenant = await harness.tenant();
  const em = harness.service.parts.orm.em.fork();
  await em.execute(
    `insert into audit_events (id, org_id, action, outcome, created_at)
     select gen_random_uuid(), ?, 'apps.deploy', 'done', now() - (n / 3) * interval '1 second' from generate_series(1, 250) n`,
    [tenant.org_id],
  );
  expect((await tenant.rest.get("/v1/audit-events")).status).toBe(403);
  const owner = await signUpOwner(harness, tenant);
  const rpc = rpcClient(harness.service.publicUrl, await owner.accessToken());
  const ids: string[] = [];
  let nextCursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof rpc.audit.list.query>> = await rpc.audit.list.query(
      nextCursor === null ? {} : { cursor: nextCursor },
    );
    ids.push(...page.events.map(({ id }) => id));
    nextCursor = page.next_cursor;
  } while (nextCursor !== null);
  expect([ids.length >= 250, new Set(ids).size]).toEqual([true, ids.length]);
  const invalidDate = Buffer.from(`2026-13-45T00:00:00.000Z ${tenant.org_id}`).toString("base64url");
  for (const cursor of ["x", invalidDate])
    expect(await rpcErrorOf(rpc.audit.list.query({ cursor }))).toMatchObject({ status: 400 });
});
