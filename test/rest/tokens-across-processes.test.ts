import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { insertTokens } from "../support/identity/insert-tokens.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { openStream } from "../support/clients/mcp-notification-streams.ts";
import { stopMonotonicClock } from "../support/service/stopped-clock.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { hazard, verifies } from "../support/verifies.ts";

const PUBLIC_URL = "http://127.0.0.1:3999";
let one: Harness;
let two: Harness;

/** Two services with one database, one Redis and one public URL. */
beforeAll(async () => {
  const config = { publicUrl: PUBLIC_URL, tokenSecret: "x".repeat(32), signUp: "open" } as const;
  one = await createHarness({ config });
  const { databaseUrl, redisUrl } = one.config;
  two = await createHarness({ config: { ...config, databaseUrl, redisUrl } });
});
afterAll(async () => {
  await two[Symbol.asyncDispose]();
  await one[Symbol.asyncDispose]();
});

/** The address that a service listens on, which differs from its public URL. */
function listenUrl(harness: Harness): string {
  return `http://127.0.0.1:${harness.service.port}`;
}

verifies(
  [hazard(25), hazard(29)],
  "a revocation or sign-out in one process takes effect in the other process at once, including open streams",
  async () => {
    const [firstUrl, secondUrl] = [listenUrl(one), listenUrl(two)];
    const owner = new TestUser(firstUrl, undefined, undefined, PUBLIC_URL);
    await owner.signUp();
    const access = await owner.accessToken();
    const rest = new RestClient(secondUrl, access);
    // Without notifications, the second process would accept the cached credentials forever.
    using _clock = stopMonotonicClock();
    expect((await rest.get("/v1/apps")).status).toBe(200);
    const rpc = rpcClient(firstUrl, access);
    const key = await rpc.tokens.issue.mutate({ kind: "api_key", name: "CI" });
    const personal = await rpc.tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" });
    expect((await rest.as(key.token).get("/v1/apps")).status).toBe(200);
    const stream = await openStream(secondUrl, personal.token);
    await rpc.tokens.revoke.mutate({ id: key.id });
    await rpc.tokens.revoke.mutate({ id: personal.id });
    await stream.ended;
    expect((await rest.as(key.token).get("/v1/apps")).status).toBe(401);
    expect((await new GatewayClient(secondUrl, personal.token).call("ping")).status).toBe(401);
    await owner.post("/sign-out", {});
    await expect.poll(async () => (await rest.get("/v1/apps")).status).toBe(401);
    await stream.close();
  },
);

test("two processes together create no more tokens than the quota allows", async () => {
  const tenant = await one.tenant();
  await insertTokens(one, { orgId: tenant.org_id, kind: "api_key", count: 998 });
  const calls = [one, two, one, two, one, two].map((harness) =>
    new RestClient(listenUrl(harness), tenant.api_key).post("/v1/tokens", { kind: "api_key", name: "one more" }),
  );
  const responses = await Promise.all(calls);
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
});
