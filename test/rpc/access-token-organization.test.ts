import { expect, test } from "vitest";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient, rpcErrorOf } from "../support/clients/rpc-client.ts";
import { joinOrganization, signUpOwner } from "../support/identity/organization-members.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ config: { signUp: "open" } });

async function createOwnedTenant() {
  const tenant = await service().tenant();
  return { tenant, owner: await signUpOwner(service(), tenant) };
}

test("an access token keeps its organization when the session selects another one", async () => {
  const { publicUrl } = service().service;
  const [home, other] = [await createOwnedTenant(), await createOwnedTenant()];
  await joinOrganization(other.owner, home.owner, { organizationId: other.tenant.org_id, role: "admin" });
  const select = (organizationId: string) => home.owner.post("/organization/set-active", { organizationId });
  await select(home.tenant.org_id);
  const token = await home.owner.accessToken();
  await select(other.tenant.org_id);
  const app = await service().givenApp(home.tenant, { name: "home-app" });
  await service().givenApp(other.tenant, { name: "other-app" });
  const { body } = await new RestClient(publicUrl, token).get("/v1/apps");
  expect(body["apps"]).toEqual([expect.objectContaining({ id: app.id })]);
  const issued = await rpcClient(publicUrl, token).tokens.issue.mutate({ kind: "api_key", name: "from home" });
  const listed = await new RestClient(publicUrl, issued.token).get("/v1/apps");
  expect(listed.body["apps"]).toEqual([expect.objectContaining({ id: app.id })]);
});

test("403 rejects an access token whose user is no longer a member of its organization", async () => {
  const { publicUrl } = service().service;
  const [home, other] = [await createOwnedTenant(), await createOwnedTenant()];
  await joinOrganization(other.owner, home.owner, { organizationId: other.tenant.org_id, role: "admin" });
  await home.owner.post("/organization/set-active", { organizationId: other.tenant.org_id });
  const token = await home.owner.accessToken();
  const removal = { organizationId: other.tenant.org_id, memberIdOrEmail: home.owner.email };
  expect((await other.owner.post("/organization/remove-member", removal)).status).toBe(200);
  const { status, message } = await rpcErrorOf(rpcClient(publicUrl, token).apps.list.query());
  expect([status, message]).toEqual([403, expect.stringContaining("no longer a member")]);
  const header = { "x-service-org-id": home.tenant.org_id };
  expect((await rpcErrorOf(rpcClient(publicUrl, token, header).apps.list.query())).status).toBe(403);
});
