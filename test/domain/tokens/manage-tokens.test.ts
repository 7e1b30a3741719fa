import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import type { Caller, CredentialKind } from "../../../domain/shared/caller.ts";
import type { Role } from "../../../domain/shared/roles.ts";
import { issueToken, type TokenRequest } from "../../../domain/tokens/issue-token.ts";
import { listTokens } from "../../../domain/tokens/list-tokens.ts";
import { rotateToken } from "../../../domain/tokens/rotate-token.ts";
import { mainAgentId } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { nextMillisecond } from "../../support/next-millisecond.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const EXPIRY = new Date(Date.now() + 3_600_000).toISOString();

function callerOf(tenant: Tenant, kind: CredentialKind, role: Role = "owner"): Caller {
  const userId = kind === "operator" ? null : tenant.user_id;
  return { orgId: tenant.org_id, userId, role, scope: "everything", credential: { kind, id: "one" } };
}

const issue = (caller: Caller, request: Partial<TokenRequest>) =>
  issueToken({ em: em() }, caller, { kind: "api_key", name: "Test", scope: "read", ...request });

const accessChanges = { announce: () => undefined, listen: () => undefined } as never;
const rotate = (caller: Caller, id: string) =>
  rotateToken({ em: em(), accessChanges }, caller, { id, overlap: "hour" });
const list = async (caller: Caller) => (await listTokens({ db: queryBuilderOf(em()) }, caller)).tokens;

test("a user and their personal access token can issue personal access tokens, and no other caller can", async () => {
  const tenant = await service().tenant();
  for (const kind of ["access_token", "personal_access_token"] as const)
    expect(await issue(callerOf(tenant, kind, "member"), { kind: "personal_access_token" })).toBeTruthy();
  for (const kind of ["api_key", "gateway_token"] as const)
    await expect(issue(callerOf(tenant, kind), { kind: "personal_access_token" })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("Only a user"),
    });
  await expect(issue(callerOf(tenant, "access_token", "member"), {})).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("admin or owner required"),
  });
});

test("the operator can issue and list every kind of token", async () => {
  const tenant = await service().tenant();
  const operator = callerOf(tenant, "operator", "member");
  const before = await list(operator);
  const agent_id = await mainAgentId(tenant.rest);
  const issued: string[] = [];
  for (const kind of ["personal_access_token", "api_key", "gateway_token"] as const) {
    await nextMillisecond();
    issued.push((await issue(operator, kind === "gateway_token" ? { kind, agent_id } : { kind })).id);
  }
  expect((await list(operator)).slice(0, -before.length).map(({ id }) => id)).toEqual(issued.toReversed());
});

test("a listed token shows its expiry and its last use, or null", async () => {
  const tenant = await service().tenant();
  const owner = callerOf(tenant, "access_token");
  const { token: _, ...expiring } = await issue(owner, { expires_at: EXPIRY });
  const { token: _unused, ...permanent } = await issue(owner, {});
  expect(expiring.expires_at).toBe(EXPIRY);
  await em().execute("update machine_tokens set last_used_at = ? where id = ?", [EXPIRY, permanent.id]);
  const tokens = await list(owner);
  const find = (id: string) => tokens.find((token) => token.id === id);
  expect(find(expiring.id)).toEqual({ ...expiring, last_used_at: null });
  expect(find(permanent.id)).toEqual({ ...permanent, last_used_at: EXPIRY });
});

test("a successor has the name, scope, user and agent of the token that it replaces", async () => {
  const tenant = await service().tenant();
  const owner = callerOf(tenant, "access_token");
  for (const request of [
    { kind: "personal_access_token" },
    { kind: "gateway_token", agent_id: await mainAgentId(tenant.rest) },
    { kind: "api_key" },
  ] as const) {
    const old = await issue(owner, { ...request, name: `An old ${request.kind}` });
    const { kind, name, scope, agent_id } = old;
    const next = await rotate(owner, old.id);
    expect(next).toMatchObject({ kind, name, scope, agent_id });
    const users = await em().execute("select user_id from machine_tokens where id in (?, ?)", [old.id, next.id]);
    const userId = kind === "gateway_token" ? null : tenant.user_id;
    expect(users).toEqual([{ user_id: userId }, { user_id: userId }]);
  }
});

test("404 for the rotation of a token that belongs to another organization or user, or that is revoked", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const owner = callerOf(tenant, "access_token");
  const foreign = await issue(callerOf(other, "access_token"), {});
  const ofColleague = await issue({ ...owner, userId: other.user_id }, { kind: "personal_access_token" });
  const revoked = await issue(owner, {});
  await em().execute("update machine_tokens set revoked_at = now() where id = ?", [revoked.id]);
  for (const id of [foreign.id, ofColleague.id, revoked.id, randomUUID()])
    await expect(rotate(owner, id)).rejects.toMatchObject({ code: "not_found" });
});
