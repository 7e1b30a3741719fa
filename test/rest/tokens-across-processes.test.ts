import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { insertTokens } from "../support/identity/insert-tokens.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { openStream } from "../support/clients/open-stream.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { hazard, verifies } from "../support/verifies.ts";

const PUBLIC_URL = "http://127.0.0.1:3999";
let one: Harness;
let two: Harness;

/** Two services on one database and one Redis, known to people by one name. */
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

/** Where a harness listens, whatever it is called. */
function addressOf(harness: Harness): string {
  return `http://127.0.0.1:${harness.service.port}`;
}

verifies(
  [hazard(25), hazard(29)],
  "a revoked token and an ended session are refused at once by the other process, open streams included",
  async () => {
    const [here, there] = [addressOf(one), addressOf(two)];
    const owner = new TestUser(here, undefined, undefined, PUBLIC_URL);
    await owner.signUp();
    const access = await owner.accessToken();
    const rest = new RestClient(there, access);
    expect((await rest.get("/v1/apps")).status).toBe(200);
    const rpc = rpcClient(here, access);
    const key = await rpc.tokens.issue.mutate({ kind: "api_key", name: "CI" });
    const mine = await rpc.tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" });
    expect((await rest.as(key.token).get("/v1/apps")).status).toBe(200);
    const stream = await openStream(there, mine.token);
    await rpc.tokens.revoke.mutate({ id: key.id });
    await rpc.tokens.revoke.mutate({ id: mine.id });
    await stream.ended;
    expect((await rest.as(key.token).get("/v1/apps")).status).toBe(401);
    expect((await new GatewayClient(there, mine.token).call("ping")).status).toBe(401);
    await owner.post("/sign-out", {});
    await expect.poll(async () => (await rest.get("/v1/apps")).status, { timeout: 2000 }).toBe(401);
    await stream.close();
  },
);

test("two processes together make no more tokens than there is room for", async () => {
  const tenant = await one.tenant();
  await insertTokens(one, { orgId: tenant.org_id, kind: "api_key", count: 998 });
  const calls = [one, two, one, two, one, two].map((harness) =>
    new RestClient(addressOf(harness), tenant.api_key).post("/v1/tokens", { kind: "api_key", name: "one more" }),
  );
  const answers = await Promise.all(calls);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
});
