import { randomUUID } from "node:crypto";
import { afterAll, expect } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { joinOrganization } from "../support/identity/organization-members.ts";
import { openNotificationStream, type OpenStream, openStream } from "../support/clients/mcp-notification-streams.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness({ config: { signUp: "open" } });

interface OrganizationOwner {
  user: TestUser;
  orgId: string;
  accessToken: string;
}

/** Creates a user with an organization. */
async function createOwner(): Promise<OrganizationOwner> {
  const { publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  const { body } = await user.post("/organization/create", { name: "Acme", slug: randomUUID() });
  return { user, orgId: String(body["id"]), accessToken: await user.accessToken() };
}

/** Creates a member of the organization with a personal access token. */
async function createMember({ user: owner, orgId }: OrganizationOwner): Promise<{ user: TestUser; token: string }> {
  const { publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  await joinOrganization(owner, user, { organizationId: orgId, role: "member" });
  const rpc = rpcClient(publicUrl, await user.accessToken());
  return { user, token: (await rpc.tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" })).token };
}

async function openTracked(token: string) {
  const stream = await openStream(service().service.publicUrl, token);
  opened.push(stream.close);
  return stream;
}

/** Checks that streams of an organization still receive notifications. Call it after other streams have ended. */
async function expectOpen(orgId: string, streams: readonly OpenStream[]): Promise<void> {
  service().service.parts.service.changes.announce(orgId);
  for (const { methods } of streams) await waitFor(() => expect(methods).toContain("notifications/tools/list_changed"));
}

const opened: (() => Promise<void>)[] = [];
afterAll(() => Promise.allSettled(opened.map((close) => close())));

verifies(
  hazard(29),
  "an open stream ends when its token is revoked, and streams of other tokens stay open",
  async () => {
    const [one, two] = [await service().tenant(), await service().tenant()];
    const { publicUrl, parts } = service().service;
    const streams = await Promise.all(
      [openStream, openNotificationStream].flatMap((open) => [
        open(publicUrl, one.personal_access_token),
        open(publicUrl, two.personal_access_token),
      ]),
    );
    await parts.orm.em.fork().execute("update machine_tokens set revoked_at = now() where org_id = ?", [one.org_id]);
    parts.service.accessChanges.announce(one.org_id);
    await Promise.all([streams[0]!.ended, streams[2]!.ended]);
    expect((await new GatewayClient(publicUrl, one.personal_access_token).call("ping")).status).toBe(401);
    await expectOpen(two.org_id, [streams[1]!, streams[3]!]);
    await Promise.all(streams.map(({ close }) => close()));
  },
);

verifies(
  [hazard(25), hazard(29)],
  "an open stream ends when its token is revoked or rotated through the API, and the user's other streams stay open",
  async () => {
    const { publicUrl } = service().service;
    const { accessToken, orgId } = await createOwner();
    const { tokens } = rpcClient(publicUrl, accessToken);
    const issue = () => tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" });
    const agent_id = await mainAgentId(new RestClient(publicUrl, accessToken));
    const agent = await tokens.issue.mutate({ kind: "gateway_token", name: "Agent", agent_id });
    const [revoked, rotated, kept] = [await issue(), await issue(), await issue()];
    const streams = [
      await openTracked(revoked.token),
      await openTracked(rotated.token),
      await openTracked(agent.token),
    ];
    const other = await openTracked(kept.token);
    await tokens.revoke.mutate({ id: revoked.id });
    await tokens.rotate.mutate({ id: rotated.id, overlap: "none" });
    await tokens.revoke.mutate({ id: agent.id });
    await Promise.all(streams.map(({ ended }) => ended));
    await expectOpen(orgId, [other]);
  },
);

verifies(hazard(29), "an open stream ends when its user is removed from the organization or leaves it", async () => {
  const owner = await createOwner();
  const [removed, left, kept] = [await createMember(owner), await createMember(owner), await createMember(owner)];
  const streams = [await openTracked(removed.token), await openTracked(left.token)];
  const other = await openTracked(kept.token);
  const { orgId: organizationId } = owner;
  await owner.user.post("/organization/remove-member", { memberIdOrEmail: removed.user.email, organizationId });
  await left.user.post("/organization/leave", { organizationId });
  await Promise.all(streams.map(({ ended }) => ended));
  await expectOpen(organizationId, [other]);
});

verifies(hazard(29), "an open stream of an OAuth client ends when the user changes their password", async () => {
  const { publicUrl } = service().service;
  const [{ user }, { user: otherUser, orgId }] = [await createOwner(), await createOwner()];
  const grantAccess = async (owner: TestUser) => {
    const { body } = await new OAuthRequests(publicUrl, owner).grant(`${publicUrl}/mcp`, "read offline_access");
    return String(body["access_token"]);
  };
  const stream = await openTracked(await grantAccess(user));
  const other = await openTracked(await grantAccess(otherUser));
  const change = { currentPassword: user.password, newPassword: "another horse battery" };
  expect((await user.post("/change-password", change)).status).toBe(200);
  await stream.ended;
  await expectOpen(orgId, [other]);
});
