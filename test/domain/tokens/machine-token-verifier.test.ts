import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import type { TokenKind } from "../../../domain/shared/caller.ts";
import { MachineTokenVerifier } from "../../../domain/tokens/machine-token-verifier.ts";
import { mintToken, type NewToken } from "../../../domain/tokens/mint-token.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const MINUTE_MS = 60_000;

const em = () => service().service.parts.orm.em.fork();
const verify = (kind: TokenKind, token: string) => new MachineTokenVerifier(queryBuilderOf(em()), kind).verify(token);

function mint(tenant: Tenant, fields: Partial<NewToken>): Promise<{ id: string; token: string }> {
  const defaults = { kind: "api_key", name: "Test", orgId: tenant.org_id, userId: tenant.user_id } as const;
  return em().transactional(async (tx) => mintToken(tx, { ...defaults, ...fields }));
}

test("an API key acts as an admin, a gateway token as a member, and a personal access token as its owner", async () => {
  const tenant = await service().tenant();
  const agentId = randomUUID();
  for (const [kind, role, agent] of [
    ["api_key", "admin", {}],
    ["gateway_token", "member", { agentId }],
    ["personal_access_token", "owner", {}],
  ] as const) {
    const { id, token } = await mint(tenant, { kind, scope: "deploy", ...agent });
    expect(await verify(kind, token)).toEqual({
      caller: {
        orgId: tenant.org_id,
        userId: tenant.user_id,
        role,
        scope: "deploy",
        credential: { kind, id },
        ...agent,
      },
      expiresAt: Infinity,
    });
  }
});

test("a token of another kind, or with an expiry that has passed, identifies no caller", async () => {
  const tenant = await service().tenant();
  const key = await mint(tenant, {});
  expect(await verify("gateway_token", key.token)).toBeNull();
  const expiresAt = new Date(Date.now() + MINUTE_MS);
  const valid = await mint(tenant, { expiresAt });
  expect((await verify("api_key", valid.token))?.expiresAt).toBe(expiresAt.getTime());
  const expired = await mint(tenant, { expiresAt: new Date(Date.now() - 1000) });
  expect(await verify("api_key", expired.token)).toBeNull();
});

test("a personal access token of a user who has left the organization identifies no caller, an API key still does", async () => {
  const tenant = await service().tenant();
  const personal = await mint(tenant, { kind: "personal_access_token" });
  const key = await mint(tenant, {});
  expect(await verify("personal_access_token", personal.token)).not.toBeNull();
  await em().execute(`delete from auth.member where "userId" = ?`, [tenant.user_id]);
  expect(await verify("personal_access_token", personal.token)).toBeNull();
  expect((await verify("api_key", key.token))?.caller.role).toBe("admin");
});

test("the time of the last use is stored at the first use, and then at most once per minute", async () => {
  const { id, token } = await mint(await service().tenant(), {});
  const readLastUse = async () => {
    const [row] = await em().execute<{ at: string | null }[]>(
      "select last_used_at::text as at from machine_tokens where id = ?",
      [id],
    );
    return row?.at;
  };
  const setLastUse = async (agoMs: number) => {
    const at = new Date(Date.now() - agoMs).toISOString();
    await em().execute("update machine_tokens set last_used_at = ? where id = ?", [at, id]);
    return readLastUse();
  };
  await verify("api_key", token);
  expect(await readLastUse()).not.toBeNull();
  const recent = await setLastUse(MINUTE_MS / 2);
  await verify("api_key", token);
  expect(await readLastUse()).toBe(recent);
  const old = await setLastUse(2 * MINUTE_MS);
  await verify("api_key", token);
  expect(await readLastUse()).not.toBe(old);
});
