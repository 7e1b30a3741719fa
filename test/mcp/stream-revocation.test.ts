import { randomUUID } from "node:crypto";
import { afterAll, expect } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { openStream } from "../support/clients/open-stream.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });

interface Watched {
  person: TestUser;
  orgId: string;
  access: string;
}

/** Somebody with an organization of their own. */
async function owner(): Promise<Watched> {
  const { publicUrl } = service().service;
  const person = new TestUser(publicUrl);
  await person.signUp();
  const { body } = await person.post("/organization/create", { name: "Acme", slug: randomUUID() });
  return { person, orgId: String(body["id"]), access: await person.accessToken() };
}

/** Signs somebody up and in as a member, with a personal access token for the gateway. */
async function member({ person: inviting, orgId }: Watched): Promise<{ person: TestUser; token: string }> {
  const { publicUrl } = service().service;
  const person = new TestUser(publicUrl);
  await person.signUp();
  const invitation = { email: person.email, role: "member", organizationId: orgId };
  const { body } = await inviting.post("/organization/invite-member", invitation);
  await person.post("/organization/accept-invitation", { invitationId: body["id"] as string });
  const rpc = rpcClient(publicUrl, await person.accessToken());
  return { person, token: (await rpc.tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" })).token };
}

async function watch(token: string) {
  const stream = await openStream(service().service.publicUrl, token);
  opened.push(stream.close);
  return stream;
}

/** Whether a stream is still open once whatever ends others has done so. */
function stillOpen({ ended }: { ended: Promise<void> }): Promise<boolean> {
  return Promise.race([ended.then(() => false), Promise.resolve(true)]);
}

const opened: (() => Promise<void>)[] = [];
afterAll(() => Promise.allSettled(opened.map((close) => close())));

verifies(
  hazard(29),
  "an open stream ends when the token it was opened with is revoked, and no other does",
  async () => {
    const [one, two] = [await service().tenant(), await service().tenant()];
    const { publicUrl, parts } = service().service;
    const revoked = await openStream(publicUrl, one.personal_access_token);
    const kept = await openStream(publicUrl, two.personal_access_token);
    await parts.orm.em.fork().execute("update machine_tokens set revoked_at = now() where org_id = ?", [one.org_id]);
    parts.capabilities.tokens.accessChanges.announce(one.org_id);
    await revoked.ended;
    expect((await new GatewayClient(publicUrl, one.personal_access_token).call("ping")).status).toBe(401);
    expect(await Promise.race([kept.ended.then(() => "ended"), Promise.resolve("open")])).toBe("open");
    await Promise.all([revoked.close(), kept.close()]);
  },
);

verifies(
  [hazard(25), hazard(29)],
  "an open stream ends when its token is revoked or replaced through the interface, and the others of the person do not",
  async () => {
    const { publicUrl } = service().service;
    const { access } = await owner();
    const { tokens } = rpcClient(publicUrl, access);
    const issue = () => tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" });
    const agent = await tokens.issue.mutate({ kind: "gateway_token", name: "Agent", agent_id: randomUUID() });
    const [revoked, rotated, kept] = [await issue(), await issue(), await issue()];
    const streams = [await watch(revoked.token), await watch(rotated.token), await watch(agent.token)];
    const other = await watch(kept.token);
    await tokens.revoke.mutate({ id: revoked.id });
    await tokens.rotate.mutate({ id: rotated.id, overlap: "none" });
    await tokens.revoke.mutate({ id: agent.id });
    await Promise.all(streams.map(({ ended }) => ended));
    expect(await stillOpen(other)).toBe(true);
  },
);

verifies(hazard(29), "an open stream ends when the member whose it is is removed or leaves", async () => {
  const acme = await owner();
  const [removed, left, kept] = [await member(acme), await member(acme), await member(acme)];
  const streams = [await watch(removed.token), await watch(left.token)];
  const other = await watch(kept.token);
  const { orgId: organizationId, person } = acme;
  await person.post("/organization/remove-member", { memberIdOrEmail: removed.person.email, organizationId });
  await left.person.post("/organization/leave", { organizationId });
  await Promise.all(streams.map(({ ended }) => ended));
  expect(await stillOpen(other)).toBe(true);
});

verifies(hazard(29), "an open stream of a client ends when the person changes their password", async () => {
  const { publicUrl } = service().service;
  const [{ person }, { person: another }] = [await owner(), await owner()];
  const access = async (who: TestUser) => {
    const { body } = await new OAuthRequests(publicUrl, who).grant(`${publicUrl}/mcp`, "read offline_access");
    return String(body["access_token"]);
  };
  const stream = await watch(await access(person));
  const other = await watch(await access(another));
  const change = { currentPassword: person.password, newPassword: "another horse battery" };
  expect((await person.post("/change-password", change)).status).toBe(200);
  await stream.ended;
  expect(await stillOpen(other)).toBe(true);
});
