import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { insertTokens } from "../support/identity/insert-tokens.ts";
import type { Tenant } from "../support/service/harness.ts";
import { createOwnedTenant, type OwnedTenant } from "../support/identity/owned-tenant.ts";
import { joinOrganization } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { rpcErrorOf, rpcClient } from "../support/clients/rpc-client.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });

/** Creates a member of the organization. */
async function createMember({ owner, tenant, url }: OwnedTenant, role: string): Promise<TestUser> {
  const user = new TestUser(url);
  await user.signUp();
  await joinOrganization(owner, user, { organizationId: tenant.org_id, role });
  return user;
}

/** Returns the id of the tenant's first API key. */
async function findKeyId({ rest, api_key: key }: Tenant): Promise<string> {
  const { tokens } = (await rest.get("/v1/tokens")).body as { tokens: { id: string; prefix: string }[] };
  return tokens.find(({ prefix }) => key.startsWith(prefix))!.id;
}

test("a user issues an API key and a personal access token, both work, and no later response or log contains them", async () => {
  const { owner, tenant, url } = await createOwnedTenant(service());
  const rpc = rpcClient(url, await owner.accessToken());
  const key = await rpc.tokens.issue.mutate({ kind: "api_key", name: "CI" });
  const personal = await rpc.tokens.issue.mutate({ kind: "personal_access_token", name: "Laptop" });
  expect((await tenant.rest.as(key.token).get("/v1/apps")).status).toBe(200);
  expect((await new GatewayClient(url, personal.token).call("tools/list")).status).toBe(200);
  const { tokens } = await rpc.tokens.list.query();
  const { token: _secret, ...view } = key;
  expect(tokens).toContainEqual({ ...view, last_used_at: expect.any(String) });
  expect(JSON.stringify(tokens)).not.toContain(key.token.slice(14));
  expect(service().logged()).not.toContain(key.token);
});

verifies(
  [hazard(25), hazard(30), "tokens.issue"],
  "a token works only on its own API, and is rejected from the next call after its revocation",
  async () => {
    const { owner, tenant, url } = await createOwnedTenant(service());
    const rpc = rpcClient(url, await owner.accessToken());
    const key = await rpc.tokens.issue.mutate({ kind: "api_key", name: "CI" });
    const agent_id = await mainAgentId(tenant.rest);
    const agent = await rpc.tokens.issue.mutate({ kind: "gateway_token", name: "Agent", agent_id });
    const rest = tenant.rest.as(key.token);
    const gateway = new GatewayClient(url, agent.token);
    expect([(await rest.get("/v1/apps")).status, (await gateway.call("ping")).status]).toEqual([200, 200]);
    const onOtherApi = [await tenant.rest.as(agent.token).get("/v1/apps"), await gateway.as(key.token).call("ping")];
    expect(onOtherApi.map(({ status }) => status)).toEqual([401, 401]);
    expect((await tenant.rest.delete(`/v1/tokens/${key.id}`)).body).toEqual({ status: "revoked" });
    await rpc.tokens.revoke.mutate({ id: agent.id });
    expect([(await rest.get("/v1/apps")).status, (await gateway.call("ping")).status]).toEqual([401, 401]);
    expect((await tenant.rest.delete(`/v1/tokens/${key.id}`)).body).toEqual({ error: "Token not found" });
  },
);

verifies(
  [hazard(25), "tokens.rotate"],
  "a rotated token remains valid during the overlap, and is rejected at once without an overlap",
  async () => {
    const { tenant } = await createOwnedTenant(service());
    const issued = await tenant.rest.post("/v1/tokens", { kind: "api_key", name: "CI", scope: "read" });
    const { id, token } = issued.body as { id: string; token: string };
    const next = await tenant.rest.post(`/v1/tokens/${id}/rotate`, { overlap: "hour" });
    expect([issued.status, next.status, next.body["scope"], next.body["name"]]).toEqual([201, 201, "read", "CI"]);
    const both = [token, String(next.body["token"])];
    for (const each of both) expect((await tenant.rest.as(each).get("/v1/apps")).status).toBe(200);
    const last = await tenant.rest.post(`/v1/tokens/${String(next.body["id"])}/rotate`, { overlap: "none" });
    expect((await tenant.rest.as(both[1]!).get("/v1/apps")).status).toBe(401);
    expect((await tenant.rest.as(String(last.body["token"])).get("/v1/apps")).status).toBe(200);
    expect((await tenant.rest.post(`/v1/tokens/${String(next.body["id"])}/rotate`, {})).status).toBe(404);
  },
);

test("a rotation does not prolong a token that expires before the end of the overlap", async () => {
  const { tenant } = await createOwnedTenant(service());
  const id = await findKeyId(tenant);
  const execute = (sql: string) => service().service.parts.orm.em.fork().execute<{ expires_at: string }[]>(sql, [id]);
  await execute("update machine_tokens set expires_at = now() + interval '10 minutes' where id = ?");
  const [before] = await execute("select expires_at from machine_tokens where id = ?");
  expect((await tenant.rest.post(`/v1/tokens/${id}/rotate`, { overlap: "week" })).status).toBe(201);
  expect(await execute("select expires_at from machine_tokens where id = ?")).toEqual([before]);
});

test("every successor of a token has the lifetime that the token was created with, also after a second rotation", async () => {
  const { tenant } = await createOwnedTenant(service());
  const expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString();
  const issue = (request: object) => tenant.rest.post("/v1/tokens", { kind: "api_key", name: "CI", ...request });
  let [expiring, permanent] = [await issue({ expires_at: expiresAt }), await issue({})];
  for (const overlap of ["hour", "hour"]) {
    expiring = await tenant.rest.post(`/v1/tokens/${String(expiring.body["id"])}/rotate`, { overlap });
    const gainedMs = Date.parse(String(expiring.body["expires_at"])) - Date.parse(expiresAt);
    expect(gainedMs).toBeGreaterThanOrEqual(0);
    expect(gainedMs).toBeLessThan(60_000);
    permanent = await tenant.rest.post(`/v1/tokens/${String(permanent.body["id"])}/rotate`, { overlap });
    expect(permanent.body["expires_at"]).toBe(null);
  }
});

test("parallel requests issue no more tokens than the quota allows, and the others get 409 with advice", async () => {
  const { tenant } = await createOwnedTenant(service());
  const orgId = tenant.org_id;
  // Together with the first API key of the tenant: 998 of 1000 tokens.
  await insertTokens(service(), { orgId, kind: "gateway_token", count: 500 });
  await insertTokens(service(), { orgId, kind: "api_key", count: 497 });
  await insertTokens(service(), { orgId, kind: "api_key", count: 10, ended: { column: "expires_at", daysAgo: 1 } });
  await insertTokens(service(), { orgId, kind: "api_key", count: 10, ended: { column: "revoked_at", daysAgo: 1 } });
  const issue = () => tenant.rest.post("/v1/tokens", { kind: "api_key", name: "one more" });
  const responses = await Promise.all(Array.from({ length: 6 }, issue));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409, 409, 409]);
  expect(responses.find(({ status }) => status === 409)?.body["error"]).toBe(
    "Token limit reached: an organization can have at most 1000 valid API keys and gateway tokens. Revoke unused tokens, then try again.",
  );
  const issued = responses.find(({ status }) => status === 201)!;
  await tenant.rest.delete(`/v1/tokens/${String(issued.body["id"])}`);
  expect((await issue()).status).toBe(201);
});

test("when the quota is used up, a token can be rotated with an overlap once, and then only without an overlap", async () => {
  const { tenant } = await createOwnedTenant(service());
  await insertTokens(service(), { orgId: tenant.org_id, kind: "api_key", count: 1998 });
  const id = await findKeyId(tenant);
  const rotate = (tokenId: string, overlap: string) => tenant.rest.post(`/v1/tokens/${tokenId}/rotate`, { overlap });
  const first = await rotate(id, "day");
  const second = await rotate(String(first.body["id"]), "day");
  expect([first.status, second.status]).toEqual([201, 409]);
  expect(second.body["error"]).toMatch(/2000 valid API keys .*rotate with the overlap `none`\.$/);
  expect((await rotate(String(first.body["id"]), "none")).status).toBe(201);
});

test("personal access tokens have a quota per user, separate from other users and from the organization", async () => {
  const owned = await createOwnedTenant(service());
  const { tenant, owner, url } = owned;
  const member = await createMember(owned, "member");
  const memberRpc = rpcClient(url, await member.accessToken());
  const issue = (rpc: typeof memberRpc) => rpc.tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" });
  await issue(memberRpc);
  const { id: userId } = (await member.get("/get-session")).body["user"] as { id: string };
  await insertTokens(service(), { orgId: tenant.org_id, kind: "personal_access_token", count: 99, userId });
  expect(await rpcErrorOf(issue(memberRpc))).toEqual({
    status: 409,
    errorCode: "conflict",
    message: expect.stringMatching(/at most 100 valid personal access tokens in an organization\. Revoke/),
  });
  await issue(rpcClient(url, await owner.accessToken()));
  expect((await tenant.rest.post("/v1/tokens", { kind: "api_key", name: "CI" })).status).toBe(201);
});

test("the scope of an API key limits its calls", async () => {
  const { tenant } = await createOwnedTenant(service());
  const createWithScope = async (scope: string) =>
    tenant.rest.as(
      String((await tenant.rest.post("/v1/tokens", { kind: "api_key", name: scope, scope })).body["token"]),
    );
  const read = await createWithScope("read");
  const deploy = await createWithScope("deploy");
  const app = await service().givenApp(tenant);
  expect((await read.get(`/v1/apps/${app.id}`)).status).toBe(200);
  const rejected = await read.deploy({ repo: "acme/site" });
  expect([rejected.status, rejected.body["error"]]).toEqual([403, expect.stringContaining('"deploy"')]);
  expect(rejected.headers.get("ratelimit")).toBeNull();
  expect((await deploy.deploy({ repo: "acme/site" })).status).toBe(201);
  expect((await deploy.delete(`/v1/apps/${app.id}`)).status).toBe(403);
  expect((await deploy.post("/v1/tokens", { kind: "api_key", name: "more" })).status).toBe(403);
});

test("a member manages only their own personal access tokens, and admins do not see these", async () => {
  const owned = await createOwnedTenant(service());
  const { tenant, url } = owned;
  const member = rpcClient(url, await (await createMember(owned, "member")).accessToken());
  await member.tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" });
  expect((await member.tokens.list.query()).tokens.map(({ name }) => name)).toEqual(["Mine"]);
  for (const kind of ["api_key", "gateway_token"] as const)
    expect(
      await rpcErrorOf(
        member.tokens.issue.mutate({ kind, name: "x", ...(kind === "api_key" ? {} : { agent_id: randomUUID() }) }),
      ),
    ).toMatchObject({ status: 403, errorCode: "forbidden" });
  const { tokens } = (await tenant.rest.get("/v1/tokens")).body as { tokens: { id: string; name: string }[] };
  expect(tokens.map(({ name }) => name)).not.toContain("Mine");
  expect(await rpcErrorOf(member.tokens.revoke.mutate({ id: tokens[0]!.id }))).toMatchObject({ status: 404 });
  expect((await tenant.rest.post("/v1/tokens", { kind: "personal_access_token", name: "x" })).status).toBe(403);
});

verifies(
  hazard(29),
  "every token of a removed member is rejected from the next call, and stays revoked if they rejoin",
  async () => {
    const owned = await createOwnedTenant(service());
    const { owner, tenant, url } = owned;
    const member = await createMember(owned, "member");
    const access = await member.accessToken();
    const personal = await rpcClient(url, access).tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" });
    const gateway = new GatewayClient(url, personal.token);
    expect([(await tenant.rest.as(access).get("/v1/apps")).status, (await gateway.call("ping")).status]).toEqual([
      200, 200,
    ]);
    const removed = await owner.post("/organization/remove-member", {
      memberIdOrEmail: member.email,
      organizationId: tenant.org_id,
    });
    expect(removed.status).toBe(200);
    expect([(await tenant.rest.as(access).get("/v1/apps")).status, (await gateway.call("ping")).status]).toEqual([
      403, 401,
    ]);
    await joinOrganization(owner, member, { organizationId: tenant.org_id, role: "member" });
    expect((await tenant.rest.as(access).get("/v1/apps")).status).toBe(200);
    expect((await gateway.call("ping")).status).toBe(401);
  },
);

verifies(
  ["gateway.organization.override", hazard(28)],
  "X-Service-Org-Id selects another organization of the user and rejects any other",
  async () => {
    const [one, two, three] = [
      await createOwnedTenant(service()),
      await createOwnedTenant(service()),
      await createOwnedTenant(service()),
    ];
    await joinOrganization(one.owner, two.owner, { organizationId: one.tenant.org_id, role: "member" });
    const access = await two.owner.accessToken();
    const rpc = (orgId: string) => rpcClient(two.url, access, { "x-service-org-id": orgId });
    const { token } = await rpc(two.tenant.org_id).tokens.issue.mutate({ kind: "personal_access_token", name: "p" });
    const gateway = new GatewayClient(two.url, token);
    const app = await service().givenApp(one.tenant, { name: "elsewhere" });
    const header = { "x-service-org-id": one.tenant.org_id };
    const listed = await gateway.call("tools/call", { name: "service_list_apps", arguments: {} }, header);
    expect(JSON.stringify(listed.body)).toContain(app.id);
    expect(JSON.stringify((await gateway.tool("service_list_apps")).structuredContent)).not.toContain(app.id);
    const foreignResponse = await gateway.call("tools/list", {}, { "x-service-org-id": three.tenant.org_id });
    const unknownResponse = await gateway.call("tools/list", {}, { "x-service-org-id": randomUUID() });
    expect([foreignResponse.status, foreignResponse.text]).toEqual([403, unknownResponse.text]);
    expect(await rpcErrorOf(rpc(three.tenant.org_id).apps.list.query())).toEqual(
      await rpcErrorOf(rpc(randomUUID()).apps.list.query()),
    );
  },
);
