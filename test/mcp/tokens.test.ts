import { expect } from "vitest";
import { mintToken } from "../../domain/tokens/mint-token.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();

/** A caller's way to both faces, with any `Authorization`. */
interface Faces {
  tenant: Tenant;
  /** The statuses of REST and of the gateway, and the scheme of their challenge. */
  ask(headers: Record<string, string>, query?: string): Promise<{ rest: string; gateway: string }>;
}

const LET_IN = "200 null";
const REFUSED = "401 Bearer";

async function faces(): Promise<Faces> {
  const tenant = await service().tenant();
  const { publicUrl } = service().service;
  const said = ({ status, headers }: Response) => `${status} ${headers.get("www-authenticate")?.split(" ")[0] ?? null}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  return {
    tenant,
    async ask(headers, query = "") {
      const call = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
      return {
        rest: said(await fetch(`${publicUrl}/v1/apps${query}`, { headers })),
        gateway: said(await fetch(`${publicUrl}/mcp${query}`, call)),
      };
    },
  };
}

async function gatewayToken({ org_id: orgId }: Tenant): Promise<string> {
  const agent = { kind: "gateway_token", name: "An agent", orgId, userId: null } as const;
  const em = service().service.parts.orm.em.fork();
  return (await em.transactional((tx) => Promise.resolve(mintToken(tx, agent)))).token;
}

verifies(hazard(23), "401 answers an Authorization header that is missing, garbled or of another scheme", async () => {
  const { tenant, ask } = await faces();
  for (const token of [tenant.api_key, tenant.personal_access_token]) {
    const basic = Buffer.from(`token:${token}`).toString("base64");
    const garbled = ["", "Bearer", "Bearer ", token, `Basic ${basic}`, `Token ${token}`, `Bearer ${token},${token}`];
    const odd = [`Bearer Bearer ${token}`, `Bearer "${token}"`, `Bearer ${token}\t${token}`, `Bearer\u00a0${token}`];
    for (const authorization of [...garbled, ...odd])
      expect([authorization, await ask({ authorization })]).toEqual([
        authorization,
        { rest: REFUSED, gateway: REFUSED },
      ]);
  }
  expect(await ask({})).toEqual({ rest: REFUSED, gateway: REFUSED });
});

verifies(hazard(30), "401 answers a token where another kind belongs, at the control plane", async () => {
  const { tenant, ask } = await faces();
  const { body } = await tenant.rest.deploy({ repo: "acme/site" });
  const tokens = {
    "API key": tenant.api_key,
    "personal access token": tenant.personal_access_token,
    "gateway token": await gatewayToken(tenant),
    "app token": String(body["app_token"]),
  };
  const answers: Record<string, object> = {};
  for (const [kind, token] of Object.entries(tokens)) answers[kind] = await ask({ authorization: `Bearer ${token}` });
  expect(answers).toEqual({
    "API key": { rest: LET_IN, gateway: REFUSED },
    "personal access token": { rest: REFUSED, gateway: LET_IN },
    "gateway token": { rest: REFUSED, gateway: LET_IN },
    "app token": { rest: REFUSED, gateway: REFUSED },
  });
});

verifies(hazard(31), "401 answers a token in the query string, and no log line ever has one", async () => {
  const { tenant, ask } = await faces();
  const tokens = [tenant.api_key, tenant.personal_access_token, await gatewayToken(tenant)];
  for (const token of tokens) {
    const query = `?token=${token}&access_token=${token}&authorization=Bearer%20${token}`;
    expect(await ask({}, query)).toEqual({ rest: REFUSED, gateway: REFUSED });
    // Neither where the call is let in by its header, nor where there is nothing at the path.
    await ask({ authorization: `Bearer ${token}` }, query);
    await fetch(`${service().service.publicUrl}/nothing${query}`);
  }
  for (const token of tokens) expect(service().logged()).not.toContain(token);
});

verifies(
  hazard(25),
  "401 answers a token that was in use until it ran out, or was revoked five seconds ago",
  async () => {
    const expiring = await faces();
    const revoked = await faces();
    const em = service().service.parts.orm.em.fork();
    const { now } = Date;
    const at = now();
    const allowed = { rest: LET_IN, gateway: REFUSED };
    const asked = ({ tenant, ask }: Faces) => ask({ authorization: `Bearer ${tenant.api_key}` });
    const gateway = ({ tenant }: Faces) =>
      new GatewayClient(service().service.publicUrl, tenant.personal_access_token).call("tools/list");
    try {
      Date.now = () => at;
      await em.execute("update machine_tokens set expires_at = ? where org_id = ?", [
        new Date(at + 1000).toISOString(),
        expiring.tenant.org_id,
      ]);
      for (const each of [expiring, revoked]) {
        expect(await asked(each)).toEqual(allowed);
        expect((await gateway(each)).status).toBe(200);
      }
      await em.execute("update machine_tokens set revoked_at = now() where org_id = ?", [revoked.tenant.org_id]);
      Date.now = () => at + 1000;
      expect([(await asked(expiring)).rest, (await gateway(expiring)).status]).toEqual([REFUSED, 401]);
      Date.now = () => at + 5000;
      expect([(await asked(revoked)).rest, (await gateway(revoked)).status]).toEqual([REFUSED, 401]);
    } finally {
      Date.now = now;
    }
  },
);
