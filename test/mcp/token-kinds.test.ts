import { expect, vi } from "vitest";
import { mintToken } from "../../domain/tokens/mint-token.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();

/** REST and the gateway, as a tenant calls them. */
interface Apis {
  tenant: Tenant;
  /** Calls both APIs. Returns the status of each response, and the scheme of its `WWW-Authenticate` header. */
  callBoth(headers: Record<string, string>, query?: string): Promise<{ rest: string; gateway: string }>;
}

const ACCEPTED = "200 null";
const REJECTED = "401 Bearer";

async function openApis(): Promise<Apis> {
  const tenant = await service().tenant();
  const { publicUrl } = service().service;
  const summarize = ({ status, headers }: Response) =>
    `${status} ${headers.get("www-authenticate")?.split(" ")[0] ?? null}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  return {
    tenant,
    async callBoth(headers, query = "") {
      const call = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
      return {
        rest: summarize(await fetch(`${publicUrl}/v1/apps${query}`, { headers })),
        gateway: summarize(await fetch(`${publicUrl}/mcp${query}`, call)),
      };
    },
  };
}

async function issueGatewayToken({ org_id: orgId }: Tenant): Promise<string> {
  const agent = { kind: "gateway_token", name: "An agent", orgId, userId: null } as const;
  const em = service().service.parts.orm.em.fork();
  return (await em.transactional((tx) => Promise.resolve(mintToken(tx, agent)))).token;
}

verifies(
  hazard(23),
  "401 rejects an Authorization header that is missing, malformed or of another scheme",
  async () => {
    const { tenant, callBoth } = await openApis();
    for (const token of [tenant.api_key, tenant.personal_access_token]) {
      const basic = Buffer.from(`token:${token}`).toString("base64");
      const malformed = [
        "",
        "Bearer",
        "Bearer ",
        token,
        `Basic ${basic}`,
        `Token ${token}`,
        `Bearer ${token},${token}`,
      ];
      const unusual = [
        `Bearer Bearer ${token}`,
        `Bearer "${token}"`,
        `Bearer ${token}\t${token}`,
        `Bearer\u00a0${token}`,
      ];
      for (const authorization of [...malformed, ...unusual])
        expect([authorization, await callBoth({ authorization })]).toEqual([
          authorization,
          { rest: REJECTED, gateway: REJECTED },
        ]);
    }
    expect(await callBoth({})).toEqual({ rest: REJECTED, gateway: REJECTED });
  },
);

verifies(hazard(30), "401 rejects each kind of token on every API that does not accept it", async () => {
  const { tenant, callBoth } = await openApis();
  const { body } = await tenant.rest.deploy({ repo: "acme/site" });
  const tokens = {
    "API key": tenant.api_key,
    "personal access token": tenant.personal_access_token,
    "gateway token": await issueGatewayToken(tenant),
    "app token": String(body["app_token"]),
  };
  const responses: Record<string, object> = {};
  for (const [kind, token] of Object.entries(tokens))
    responses[kind] = await callBoth({ authorization: `Bearer ${token}` });
  expect(responses).toEqual({
    "API key": { rest: ACCEPTED, gateway: REJECTED },
    "personal access token": { rest: REJECTED, gateway: ACCEPTED },
    "gateway token": { rest: REJECTED, gateway: ACCEPTED },
    "app token": { rest: REJECTED, gateway: REJECTED },
  });
});

verifies(hazard(31), "401 rejects a token in the query string, and no log line contains a token", async () => {
  const { tenant, callBoth } = await openApis();
  const tokens = [tenant.api_key, tenant.personal_access_token, await issueGatewayToken(tenant)];
  for (const token of tokens) {
    const query = `?token=${token}&access_token=${token}&authorization=Bearer%20${token}`;
    expect(await callBoth({}, query)).toEqual({ rest: REJECTED, gateway: REJECTED });
    // The same for an accepted call, and for an unknown path.
    await callBoth({ authorization: `Bearer ${token}` }, query);
    await fetch(`${service().service.publicUrl}/nothing${query}`);
  }
  for (const token of tokens) expect(service().logged()).not.toContain(token);
});

verifies(
  hazard(25),
  "401 rejects a cached token when it expires, and five seconds after an unannounced revocation",
  async () => {
    const expiring = await openApis();
    const revoked = await openApis();
    const em = service().service.parts.orm.em.fork();
    const clock = movableClock();
    const allowed = { rest: ACCEPTED, gateway: REJECTED };
    const callBothWithKey = ({ tenant, callBoth }: Apis) => callBoth({ authorization: `Bearer ${tenant.api_key}` });
    const callGateway = ({ tenant }: Apis) =>
      new GatewayClient(service().service.publicUrl, tenant.personal_access_token).call("tools/list");
    try {
      await em.execute("update machine_tokens set expires_at = ? where org_id = ?", [
        new Date(clock.startedAt + 1000).toISOString(),
        expiring.tenant.org_id,
      ]);
      for (const each of [expiring, revoked]) {
        expect(await callBothWithKey(each)).toEqual(allowed);
        expect((await callGateway(each)).status).toBe(200);
      }
      await em.execute("update machine_tokens set revoked_at = now() where org_id = ?", [revoked.tenant.org_id]);
      clock.moveTo(1000);
      expect([(await callBothWithKey(expiring)).rest, (await callGateway(expiring)).status]).toEqual([REJECTED, 401]);
      clock.moveTo(5000);
      expect([(await callBothWithKey(revoked)).rest, (await callGateway(revoked)).status]).toEqual([REJECTED, 401]);
    } finally {
      clock.restore();
    }
  },
);

/** Stops the wall clock at the present and moves the monotonic clock along with it. */
function movableClock() {
  const startedAt = Date.now();
  const now = performance.now.bind(performance);
  let offsetMs = 0;
  const clocks = [
    vi.spyOn(Date, "now").mockImplementation(() => startedAt + offsetMs),
    vi.spyOn(performance, "now").mockImplementation(() => now() + offsetMs),
  ];
  return {
    startedAt,
    moveTo: (ms: number): void => void (offsetMs = ms),
    restore: () => clocks.forEach((clock) => clock.mockRestore()),
  };
}
