import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { randomEmail, signUpOwner } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ worker: true, config: { signUp: "open" } });

/** Creates an organization with a signed-in owner, and returns a function that reads its newest event of an action. */
async function ownedTenant() {
  const tenant = await service().tenant();
  const owner = await signUpOwner(service(), tenant);
  await owner.post("/organization/set-active", { organizationId: tenant.org_id });
  const rpc = rpcClient(service().service.publicUrl, await owner.accessToken());
  const findEvent = async (action: string) => (await rpc.audit.list.query({ action })).events[0];
  return { tenant, owner, rpc, findEvent };
}

function execute(sql: string, parameters: unknown[]): Promise<unknown> {
  return service().service.parts.orm.em.fork().execute(sql, parameters);
}

test("audit events name the user, the token and the app, also after the app and the token were deleted", async () => {
  const { tenant, owner, rpc, findEvent } = await ownedTenant();
  const key = await rpc.tokens.issue.mutate({ kind: "api_key", name: "CI", scope: "everything" });
  const app = await service().givenApp(tenant, { name: "shop" });
  const rest = new RestClient(service().service.publicUrl, key.token);
  expect((await rest.delete(`/v1/apps/${app.id}`)).body).toEqual({ status: "deleted" });
  await execute("delete from machine_tokens where id = ?", [key.id]);
  expect(await findEvent("apps.delete")).toMatchObject({
    user_name: "Ada",
    user_email: owner.email,
    credential_kind: "api_key",
    credential_id: key.id,
    credential_name: "CI",
    target: app.id,
    target_kind: "app",
    target_name: app.slug,
  });
  expect(await findEvent("tokens.issue")).toMatchObject({ target: key.id, target_kind: "token", target_name: "CI" });
});

test("an event from before names were stored names what still exists", async () => {
  const { tenant, findEvent } = await ownedTenant();
  const app = await service().givenApp(tenant, { name: "shop" });
  await execute(
    `insert into audit_events (id, org_id, action, target, outcome, created_at) values (?, ?, 'apps.old', ?, 'done', now())`,
    [randomUUID(), tenant.org_id, app.id],
  );
  expect(await findEvent("apps.old")).toMatchObject({ target: app.id, target_kind: "app", target_name: app.slug });
});

test("an event about a member names the user, also after the user left, and until the user is deleted", async () => {
  const { tenant, owner, findEvent } = await ownedTenant();
  const organizationId = tenant.org_id;
  const user = new TestUser(service().service.publicUrl);
  await user.signUp();
  const { body } = await owner.post("/organization/invite-member", {
    email: user.email,
    role: "member",
    organizationId,
  });
  await user.post("/organization/accept-invitation", { invitationId: String(body["id"]) });
  const accepted = { target_kind: "invitation", target_name: null, target_email: user.email };
  expect(await findEvent("organization/accept-invitation")).toMatchObject({ user_email: user.email, ...accepted });
  await owner.post("/organization/remove-member", { memberIdOrEmail: user.email, organizationId });
  const removal = await findEvent("organization/remove-member");
  const named = { target_kind: "user", target_name: "Ada", target_email: user.email };
  expect(removal).toMatchObject({ user_email: owner.email, ...named });
  await execute(`delete from auth."user" where id = ?`, [removal?.target]);
  expect(await findEvent("organization/remove-member")).toEqual({ ...removal, target_name: null, target_email: null });
  expect(await findEvent("organization/accept-invitation")).toMatchObject({ user_name: null, user_email: null });
});

test("an event about an invitation names the invited address, and its id only after it can no longer be accepted", async () => {
  const { tenant, owner, rpc, findEvent } = await ownedTenant();
  const [email, action] = [randomEmail(), "organization/invite-member"];
  const invitation = { email, role: "owner", organizationId: tenant.org_id };
  const { body } = await owner.post("/organization/invite-member", invitation);
  const invitationId = String(body["id"]);
  const named = { target_kind: "invitation", target_name: null, target_email: email };
  expect(await findEvent(action)).toMatchObject({ target: null, ...named });
  // A member who is not invited is recorded with the same id.
  expect((await owner.post("/organization/accept-invitation", { invitationId })).status).toBe(403);
  expect(JSON.stringify(await rpc.audit.list.query({}))).not.toContain(invitationId);
  await execute(`update auth.invitation set "expiresAt" = now() - interval '1 second' where id = ?`, [invitationId]);
  expect(await findEvent(action)).toMatchObject({ target: invitationId, ...named });
  await execute(`update auth.invitation set "expiresAt" = now() + interval '1 day' where id = ?`, [invitationId]);
  expect(await findEvent(action)).toMatchObject({ target: null, ...named });
  await owner.post("/organization/cancel-invitation", { invitationId });
  for (const done of [action, "organization/cancel-invitation"])
    expect(await findEvent(done)).toMatchObject({ target: invitationId, ...named });
});

test("an event does not name anything of another organization", async () => {
  const { tenant, rpc, findEvent } = await ownedTenant();
  const other = await ownedTenant();
  const app = await service().givenApp(other.tenant);
  const key = await other.rpc.tokens.issue.mutate({ kind: "api_key", name: "CI of the other", scope: "read" });
  const invitation = { email: randomEmail(), role: "member", organizationId: other.tenant.org_id };
  const { body } = await other.owner.post("/organization/invite-member", invitation);
  const rest = new RestClient(service().service.publicUrl, tenant.api_key);
  expect((await rest.delete(`/v1/apps/${app.id}`)).status).toBe(404);
  const unnamed = { target_kind: null, target_name: null, target_email: null };
  expect(await findEvent("apps.delete")).toMatchObject({ outcome: "refused", target: app.id, ...unnamed });
  for (const [index, target] of [app.id, key.id, String(body["id"]), other.tenant.org_id].entries()) {
    await execute(
      `insert into audit_events (id, org_id, credential_id, action, target, outcome, created_at)
       values (?, ?, ?, ?, ?, 'done', now())`,
      [randomUUID(), tenant.org_id, key.id, `test.${index}`, target],
    );
    expect(await findEvent(`test.${index}`)).toMatchObject({ target, credential_name: null, ...unnamed });
  }
  const { events } = await rpc.audit.list.query({});
  expect(events.map(({ user_email: email }) => email)).not.toContain(other.owner.email);
});

test("a call succeeds and is recorded, without names, also when the names cannot be found", async () => {
  const { rpc, findEvent } = await ownedTenant();
  const { id } = await rpc.tokens.issue.mutate({ kind: "api_key", name: "CI", scope: "read" });
  await execute(`alter table auth."oauthConnection" rename to "unavailable"`, []);
  try {
    await rpc.tokens.revoke.mutate({ id });
    expect(service().logged()).toContain("cannot write the audit log");
  } finally {
    await execute(`alter table auth."unavailable" rename to "oauthConnection"`, []);
  }
  expect(await findEvent("tokens.revoke")).toMatchObject({ outcome: "done", target: id });
});
