import { expect, test } from "vitest";
import { mintToken } from "../../domain/tokens/mint-token.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();

interface Rejection {
  challenge: string | null;
  message: string;
}

/** Sends a request to each API and returns its 401. */
async function rejectionsOf(authorization: string | undefined): Promise<Record<"gateway" | "rest" | "rpc", Rejection>> {
  const { publicUrl } = service().service;
  const headers = authorization === undefined ? {} : { authorization };
  const send = async (path: string, init: RequestInit, read: (body: never) => string): Promise<Rejection> => {
    const response = await fetch(`${publicUrl}${path}`, init);
    expect(response.status).toBe(401);
    return { challenge: response.headers.get("www-authenticate"), message: read((await response.json()) as never) };
  };
  const call = {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  };
  const readError = ({ error }: { error: { message: string } }) => error.message;
  return {
    gateway: await send("/mcp", call, readError),
    rest: await send("/v1/apps", { headers }, ({ error }: { error: string }) => error),
    rpc: await send("/trpc/apps.list", { headers }, readError),
  };
}

verifies(
  hazard(23),
  "the challenge of a 401 names the error invalid_token only when a bearer token was sent",
  async () => {
    for (const authorization of ["Bearer x", `Bearer svp_${"x".repeat(49)}`, "bearer a.b.c"]) {
      const { gateway, rest, rpc } = await rejectionsOf(authorization);
      expect(gateway.challenge).toMatch(/^Bearer resource_metadata="http.*", scope="[^"]+", error="invalid_token"$/);
      expect([rest.challenge, rpc.challenge]).toEqual(Array(2).fill('Bearer error="invalid_token"'));
    }
    for (const authorization of [undefined, "Basic eDp5"]) {
      const { gateway, rest, rpc } = await rejectionsOf(authorization);
      expect(gateway.challenge).not.toContain("error=");
      expect([rest.challenge, rpc.challenge]).toEqual(["Bearer", "Bearer"]);
    }
  },
);

verifies(
  hazard(30),
  "a 401 names the kind of a token that the API does not accept, and the kind that it accepts",
  async () => {
    const tenant = await service().tenant();
    const { body } = await tenant.rest.deploy({ repo: "acme/site" });
    const agent = { kind: "gateway_token", name: "An agent", orgId: tenant.org_id, userId: null } as const;
    const gatewayToken = await service()
      .service.parts.orm.em.fork()
      .transactional((tx) => Promise.resolve(mintToken(tx, agent)));
    const apiKey = await rejectionsOf(`Bearer svk_${"x".repeat(49)}`);
    expect(apiKey.gateway.message).toMatch(/^This is an API key\. The gateway accepts a personal access token\./);
    expect([apiKey.rest.message, apiKey.rpc.message]).toEqual(
      Array(2).fill(expect.stringMatching(/^Missing or invalid/)),
    );
    for (const [token, kind] of [
      [String(body["app_token"]), "an app token"],
      [`svp_${"x".repeat(49)}`, "a personal access token"],
      [gatewayToken.token, "a gateway token"],
    ] as const) {
      const authorization = `Bearer ${token}`;
      const response = await fetch(`${service().service.publicUrl}/v1/apps`, { headers: { authorization } });
      const { error } = (await response.json()) as { error: string };
      expect(error).toContain(`This is ${kind}. REST and typed RPC accept an API key.`);
      expect(error).not.toContain(token);
    }
  },
);

test("a 401 says where the dashboard creates a token, before any other way", async () => {
  const { gateway, rest, rpc } = await rejectionsOf(undefined);
  const page = `${service().service.publicUrl}/settings/tokens`;
  expect(gateway.message).toMatch(/^Missing or invalid token\. Create a personal access token at http/);
  expect(gateway.message.indexOf(page)).toBeLessThan(gateway.message.indexOf("npm run admin"));
  for (const { message } of [rest, rpc]) expect(message).toContain(`Create an API key at ${page} `);
});
