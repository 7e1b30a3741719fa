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
  "every attempt counts against the limit before its body is read, also one with a malformed body",
  async () => {
    const { rest } = await service().tenant();
    const broken = { body: "{", headers: { "content-type": "application/json" } };
    for (let n = 0; n < 3; n++) expect((await rest.send("POST", "/v1/apps/deploy", broken)).status).toBe(400);
    expect((await rest.deploy({ repo: "../.." })).status).toBe(400);
    expect((await rest.deploy({ repo: "acme/site" }, { "idempotency-key": "two words" })).status).toBe(400);
    expect((await rest.deploy({ repo: "../.." })).status).toBe(429);
  },
);

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
