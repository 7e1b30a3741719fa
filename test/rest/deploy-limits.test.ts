import { expect, test } from "vitest";
import { App } from "../../domain/apps/app.entity.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
const statusesOf = (responses: { status: number }[]) => responses.map((response) => response.status).toSorted();

verifies(
  ["rest.deploy.429", "rest.error.429", "limits.deploy.rate", hazard(34)],
  "429 rejects the sixth deploy in five minutes, with a whole number of seconds in Retry-After",
  async () => {
    const { rest } = await service().tenant();
    for (let n = 4; n >= 0; n--) {
      const response = await rest.deploy({ repo: "acme/site" });
      expect([response.status, response.headers.get("ratelimit")]).toEqual([
        201,
        expect.stringMatching(new RegExp(`^"deploy";r=${n};t=\\d+$`)),
      ]);
    }
    const sixth = await rest.deploy({ repo: "acme/site" });
    expect([sixth.status, sixth.body]).toEqual([429, { error: expect.stringContaining("5 times in 5 minutes") }]);
    expect(sixth.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(Number(sixth.headers.get("retry-after"))).toBeLessThanOrEqual(300);
    expect(sixth.headers.get("ratelimit-policy")).toBe(`"deploy";q=5;w=300`);
  },
);

verifies(["limits.deploy.rate", hazard(35)], "exactly 5 of 20 parallel deploys are accepted", async () => {
  const { rest } = await service().tenant();
  const responses = await Promise.all(Array.from({ length: 20 }, () => rest.deploy({ repo: "acme/site" })));
  expect(statusesOf(responses)).toEqual([...Array<number>(5).fill(201), ...Array<number>(15).fill(429)]);
  expect(((await rest.get("/v1/apps")).body["apps"] as unknown[]).length).toBe(5);
});

verifies(
  "limits.deploy.per_organization",
  "the deploys of one organization do not count against another organization's limit",
  async () => {
    const [one, two] = [await service().tenant(), await service().tenant()];
    await Promise.all(Array.from({ length: 6 }, () => one.rest.deploy({ repo: "acme/site" })));
    expect((await two.rest.deploy({ repo: "acme/site" })).status).toBe(201);
  },
);

verifies(
  hazard(1),
  "every attempt counts against the limit whatever its body is, and its error says how many are left",
  async () => {
    const { rest } = await service().tenant();
    const json = { "content-type": "application/json" };
    const attempts: [status: number, request: { body?: string; headers?: Record<string, string> }][] = [
      [400, { body: "{", headers: json }],
      [413, { body: JSON.stringify({ repo: "x".repeat(9 * 1024 * 1024) }), headers: json }],
      [415, { body: "repo=acme/site", headers: { "content-type": "text/plain" } }],
      [415, {}],
      [400, { body: `{"repo": "../.."}`, headers: json }],
    ];
    for (const [at, [status, request]] of attempts.entries()) {
      const response = await rest.send("POST", "/v1/apps/deploy", request);
      const left = expect.stringContaining(`. This attempt counted: ${4 - at} of 5 are left.`);
      expect([response.status, response.body]).toEqual([status, { error: left }]);
      expect(response.headers.get("ratelimit")).toContain(`;r=${4 - at};`);
    }
    const sixth = await rest.deploy({ repo: "../.." });
    expect([sixth.status, sixth.body]).toEqual([429, { error: expect.not.stringContaining("counted") }]);
  },
);

test("every attempt over typed RPC counts too, also one with a malformed input", async () => {
  const { rest, api_key: apiKey } = await service().tenant();
  const { publicUrl } = service().service;
  for (const [at, body] of ["{", "[]", `{"repo": "../.."}`].entries()) {
    const headers = { "content-type": "application/json", authorization: `Bearer ${apiKey}` };
    const response = await fetch(`${publicUrl}/trpc/apps.deploy`, { method: "POST", headers, body });
    const { error } = (await response.json()) as { error: { message: string } };
    expect([body, response.status, error.message]).toEqual([
      body,
      400,
      expect.stringContaining(`. This attempt counted: ${4 - at} of 5 are left.`),
    ]);
  }
  expect((await rest.deploy({ repo: "acme/site" })).headers.get("ratelimit")).toContain(";r=1;");
});

test("an attempt of a token that may not deploy does not count", async () => {
  const { rest } = await service().tenant();
  const issued = await rest.post("/v1/tokens", { kind: "api_key", name: "Reader", scope: "read" });
  const reader = rest.as(String(issued.body["token"]));
  for (let n = 0; n < 6; n++) expect((await reader.deploy({ repo: "acme/site" })).status).toBe(403);
  expect((await rest.deploy({ repo: "acme/site" })).headers.get("ratelimit")).toContain(";r=4;");
});

test("an error of a repeated call with a known Idempotency-Key does not say that the attempt counted", async () => {
  const { rest } = await service().tenant();
  const headers = { "idempotency-key": "2f6a9c" };
  expect((await rest.deploy({ repo: "acme/site" }, headers)).status).toBe(201);
  const repeated = await rest.deploy({ repo: "acme/other" }, headers);
  expect([repeated.status, repeated.body]).toEqual([422, { error: expect.not.stringContaining("counted") }]);
});

verifies(hazard(1), "an Idempotency-Key that is not valid counts too", async () => {
  const { rest } = await service().tenant();
  const response = await rest.deploy({ repo: "acme/site" }, { "idempotency-key": "two words" });
  expect([response.status, response.body]).toEqual([400, { error: expect.stringContaining("4 of 5 are left") }]);
});

verifies(
  ["rest.deploy.403", "rest.error.403", "limits.plan"],
  "403 rejects a deploy that exceeds the plan, and names the plan",
  async () => {
    const tenant = await service().tenant({ plan: "free" });
    for (let n = 0; n < 10; n++) await service().givenApp(tenant);
    const response = await tenant.rest.deploy({ repo: "acme/site" });
    expect([response.status, response.body]).toEqual([
      403,
      { error: expect.stringContaining(`"free" allows 10 apps`) },
    ]);
    expect(((await tenant.rest.get("/v1/apps")).body["apps"] as unknown[]).length).toBe(10);
  },
);

verifies(hazard(37), "one of two deploys at the last slot of the plan gets 201, the other 403", async () => {
  for (let round = 0; round < 5; round++) {
    const tenant = await service().tenant({ plan: "free" });
    for (let n = 0; n < 9; n++) await service().givenApp(tenant);
    const responses = await Promise.all([
      tenant.rest.deploy({ repo: "acme/a" }),
      tenant.rest.deploy({ repo: "acme/b" }),
    ]);
    expect(statusesOf(responses)).toEqual([201, 403]);
  }
});

test("an app with a live deployment counts against the plan although its newest deployment has failed", async () => {
  const tenant = await service().tenant({ plan: "free" });
  for (let n = 0; n < 9; n++) await service().givenApp(tenant);
  const app = await service().givenApp(tenant);
  await service().service.parts.orm.em.fork().nativeUpdate(App, { id: app.id }, { status: "failed" });
  expect((await tenant.rest.deploy({ repo: "acme/a" })).status).toBe(403);
});

verifies(hazard(38), "an app counts against the plan until its deletion is complete", async () => {
  const tenant = await service().tenant({ plan: "free" });
  for (let n = 0; n < 9; n++) await service().givenApp(tenant);
  const app = await service().givenApp(tenant, { status: "deleting" });
  expect((await tenant.rest.deploy({ repo: "acme/a" })).status).toBe(403);
  // A deletion can begin before the app was ever live.
  await service().service.parts.orm.em.fork().nativeUpdate(App, { id: app.id }, { liveDeploymentId: null });
  expect((await tenant.rest.deploy({ repo: "acme/a" })).status).toBe(403);
  await service().service.parts.orm.em.fork().nativeDelete(App, { id: app.id });
  expect((await tenant.rest.deploy({ repo: "acme/a" })).status).toBe(201);
});

verifies(hazard(38), "a failed app does not count against the plan", async () => {
  const tenant = await service().tenant({ plan: "free" });
  for (let n = 0; n < 9; n++) await service().givenApp(tenant);
  for (let n = 0; n < 3; n++) await service().givenApp(tenant, { status: "failed" });
  expect((await tenant.rest.deploy({ repo: "acme/a" })).status).toBe(201);
  expect((await tenant.rest.deploy({ repo: "acme/b" })).status).toBe(403);
});
