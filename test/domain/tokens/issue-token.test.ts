import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Caller } from "../../../domain/shared/caller.ts";
import { issueToken, type TokenRequest } from "../../../domain/tokens/issue-token.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { mainAgentId } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const REQUEST: TokenRequest = { kind: "api_key", name: "CI", scope: "read" };

function callerOf({ org_id: orgId, user_id: userId }: Tenant, kind: "access_token" | "operator"): Caller {
  const credential = { kind, id: "credential" };
  return { orgId, userId: kind === "operator" ? null : userId, role: "owner", scope: "everything", credential };
}

const issue = (caller: Caller, request: Partial<TokenRequest>) =>
  issueToken({ em: service().service.parts.orm.em.fork() }, caller, { ...REQUEST, ...request });

async function userOf(tokenId: string): Promise<string | null | undefined> {
  const em = service().service.parts.orm.em.fork();
  const rows = await em.execute<{ user_id: string | null }[]>("select user_id from machine_tokens where id = ?", [
    tokenId,
  ]);
  return rows[0]?.user_id;
}

test("a token has the kind, name, scope, agent and expiry of the request, and records its user", async () => {
  const tenant = await service().tenant();
  const caller = callerOf(tenant, "access_token");
  const agentId = await mainAgentId(tenant.rest);
  const expiry = new Date(Date.now() + 3_600_000).toISOString();
  for (const [request, expected, userId] of [
    [{}, { agent_id: null, expires_at: null }, tenant.user_id],
    [{ expires_at: expiry }, { agent_id: null, expires_at: expiry }, tenant.user_id],
    [{ kind: "personal_access_token" }, { agent_id: null, expires_at: null }, tenant.user_id],
    [{ kind: "gateway_token", agent_id: agentId }, { agent_id: agentId, expires_at: null }, null],
  ] as const) {
    const issued = await issue(caller, request);
    expect(issued).toMatchObject({ ...REQUEST, ...request, ...expected, last_used_at: null });
    expect(issued.token.startsWith(issued.prefix)).toBe(true);
    expect([issued.prefix.length, await userOf(issued.id)]).toEqual([12, userId]);
  }
});

test("a gateway token requires an agent, and the other kinds reject one", async () => {
  const caller = callerOf(await service().tenant(), "access_token");
  for (const request of [
    { kind: "gateway_token" },
    { kind: "api_key", agent_id: randomUUID() },
    { kind: "personal_access_token", agent_id: randomUUID() },
  ] as const)
    await expect(issue(caller, request)).rejects.toMatchObject({ code: "invalid" });
});

test("an expiry that has passed is rejected", async () => {
  const caller = callerOf(await service().tenant(), "access_token");
  for (const expiry of [new Date(Date.now() - 1000), new Date(0)])
    await expect(issue(caller, { expires_at: expiry.toISOString() })).rejects.toMatchObject({ code: "invalid" });
});

test("a token that the operator issues records the first owner of the organization", async () => {
  const tenant = await service().tenant();
  const em = service().service.parts.orm.em.fork();
  // Neither a later owner nor an earlier member of another role is the first owner.
  for (const [role, createdAt] of [
    ["owner", new Date(Date.now() + 60_000)],
    ["member", new Date(0)],
  ] as const) {
    const userId = randomUUID();
    await em.execute(
      `insert into auth."user" (id, name, email, "emailVerified", "createdAt", "updatedAt") values (?, ?, ?, false, now(), now())`,
      [userId, "Other", `${userId}@example.com`],
    );
    await em.execute(
      `insert into auth.member (id, "organizationId", "userId", role, "createdAt") values (?, ?, ?, ?, ?)`,
      [randomUUID(), tenant.org_id, userId, role, createdAt.toISOString()],
    );
  }
  const issued = await issue(callerOf(tenant, "operator"), {});
  expect(await userOf(issued.id)).toBe(tenant.user_id);
});
