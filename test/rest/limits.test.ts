import { expect } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
const statusesOf = (answers: { status: number }[]) => answers.map((answer) => answer.status).toSorted();

verifies(
  ["rest.deploy.429", "rest.error.429", "limits.deploy.rate", hazard(34)],
  "429 refuses the sixth deploy in five minutes, with a whole number of seconds in Retry-After",
  async () => {
    const { rest } = await service().tenant();
    for (let n = 4; n >= 0; n--) {
      const answer = await rest.deploy({ repo: "acme/site" });
      expect([answer.status, answer.headers.get("ratelimit")]).toEqual([
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

verifies(["limits.deploy.rate", hazard(35)], "20 parallel deploys have exactly 5 accepted", async () => {
  const { rest } = await service().tenant();
  const answers = await Promise.all(Array.from({ length: 20 }, () => rest.deploy({ repo: "acme/site" })));
  expect(statusesOf(answers)).toEqual([...Array<number>(5).fill(201), ...Array<number>(15).fill(429)]);
  expect(((await rest.get("/v1/apps")).body["apps"] as unknown[]).length).toBe(5);
});

verifies("limits.deploy.per_organization", "one organization's deploys take nothing from another's", async () => {
  const [one, two] = [await service().tenant(), await service().tenant()];
  await Promise.all(Array.from({ length: 6 }, () => one.rest.deploy({ repo: "acme/site" })));
  expect((await two.rest.deploy({ repo: "acme/site" })).status).toBe(201);
});

verifies(
  hazard(1),
  "an attempt counts whatever it asks for, malformed bodies included, before it is looked at",
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
  "403 refuses a deploy past the plan, and names the plan",
  async () => {
    const tenant = await service().tenant({ plan: "free" });
    for (let n = 0; n < 10; n++) await service().givenApp(tenant);
    const answer = await tenant.rest.deploy({ repo: "acme/site" });
    expect([answer.status, answer.body]).toEqual([403, { error: expect.stringContaining(`"free" allows 10 apps`) }]);
    expect(((await tenant.rest.get("/v1/apps")).body["apps"] as unknown[]).length).toBe(10);
  },
);

verifies(hazard(37), "two deploys at the plan's last slot give one 201 and one 403", async () => {
  for (let round = 0; round < 5; round++) {
    const tenant = await service().tenant({ plan: "free" });
    for (let n = 0; n < 9; n++) await service().givenApp(tenant);
    const answers = await Promise.all([tenant.rest.deploy({ repo: "acme/a" }), tenant.rest.deploy({ repo: "acme/b" })]);
    expect(statusesOf(answers)).toEqual([201, 403]);
  }
});

verifies(hazard(38), "a failed app takes no room in the plan", async () => {
  const tenant = await service().tenant({ plan: "free" });
  for (let n = 0; n < 9; n++) await service().givenApp(tenant);
  for (let n = 0; n < 3; n++) await service().givenApp(tenant, { status: "failed" });
  expect((await tenant.rest.deploy({ repo: "acme/a" })).status).toBe(201);
  expect((await tenant.rest.deploy({ repo: "acme/b" })).status).toBe(403);
});
