import { expect, test } from "vitest";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { joinOrganization, signUpOwner } from "../support/identity/organization-members.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });

test("an API key belongs to no user, and is valid in its organization only", async () => {
  const { publicUrl } = service().service;
  const tenant = await service().tenant();
  const organization = { id: tenant.org_id, name: "Test", role: expect.any(String) };
  expect(await rpcClient(publicUrl, tenant.api_key).account.get.query()).toEqual({
    user: null,
    organization,
    organizations: [organization],
    credential: "api_key",
    scope: "everything",
  });
});

verifies(
  "account.read",
  "an access token names its user, the organization of the call and all organizations of the user",
  async () => {
    const { publicUrl } = service().service;
    const [home, other] = [await service().tenant(), await service().tenant()];
    const [user, owner] = [await signUpOwner(service(), home), await signUpOwner(service(), other)];
    await joinOrganization(owner, user, { organizationId: other.org_id, role: "admin" });
    const token = await user.accessToken();
    const organizations = [
      { id: home.org_id, name: "Test", role: "owner" },
      { id: other.org_id, name: "Test", role: "admin" },
    ];
    const account = await rpcClient(publicUrl, token).account.get.query();
    expect(account.user).toMatchObject({ email: user.email });
    // The first user of the service also owns the organization of the first start.
    expect(account.organizations).toEqual(expect.arrayContaining(organizations));
    const there = rpcClient(publicUrl, token, { "x-service-org-id": other.org_id });
    expect((await there.account.get.query()).organization).toEqual(organizations[1]);
  },
);

test("the token of an OAuth client that is limited to one organization shows no other one", async () => {
  const { publicUrl } = service().service;
  const [home, other] = [await service().tenant(), await service().tenant()];
  const [user, owner] = [await signUpOwner(service(), home), await signUpOwner(service(), other)];
  await joinOrganization(owner, user, { organizationId: other.org_id, role: "member" });
  const oauth = new OAuthRequests(publicUrl, user);
  const query = { resource: `${publicUrl}/v1`, scope: "read" };
  const granted = await oauth.grantTo(await oauth.register(), query, {}, { organizationId: other.org_id });
  const account = await rpcClient(publicUrl, String(granted.body["access_token"])).account.get.query();
  expect(account.organizations).toEqual([{ id: other.org_id, name: "Test", role: "member" }]);
  expect([account.organization.id, account.scope]).toEqual([other.org_id, "read"]);
});
