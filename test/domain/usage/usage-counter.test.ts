import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Db } from "../../../domain/database-types.ts";
import { readActivity } from "../../../domain/usage/read-activity.ts";
import { UsageCounter } from "../../../domain/usage/usage-counter.ts";
import { periodOf } from "../../../domain/usage/usage-period.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const db = () => service().service.parts.db;

test("requests and programs are counted per organization, by several processes at once", async () => {
  const [one, two] = [await service().tenant(), await service().tenant()];
  const [first, second, third] = [
    await service().givenApp(one),
    await service().givenApp(one),
    await service().givenApp(two),
  ];
  const counters = [new UsageCounter(), new UsageCounter(), new UsageCounter()];
  for (const counter of counters) {
    for (const app of [first, first, second, third]) counter.countRequest(app.id);
    counter.countRequest(randomUUID());
    counter.countProgram(one.org_id);
  }
  await Promise.all(counters.map((counter) => counter.flush(db())));
  // Written counts are not written again.
  await Promise.all(counters.map((counter) => counter.flush(db())));
  expect(await readActivity(db(), one.org_id)).toMatchObject({ requests: 9, programs: 3, deployments: 0 });
  expect(await readActivity(db(), two.org_id)).toMatchObject({ requests: 3, programs: 0 });
});

test("counts that could not be written are written by the next flush, with those that were added meanwhile", async () => {
  const { org_id: orgId } = await service().tenant();
  const counter = new UsageCounter();
  counter.countProgram(orgId);
  const lost = { transaction: () => ({ execute: () => Promise.reject(new Error("lost")) }) } as unknown as Db;
  await expect(counter.flush(lost)).rejects.toThrow("lost");
  counter.countProgram(orgId);
  await counter.flush(db());
  expect((await readActivity(db(), orgId)).programs).toBe(2);
});

test("usage counts the accepted deployments of the month, also of failed and deleted apps", async () => {
  const tenant = await service().tenant();
  const accepted = await tenant.rest.deploy({ repo: "acme/site" });
  await tenant.rest.deploy({ repo: "../.." });
  await tenant.rest.send("POST", `/v1/apps/${String(accepted.body["app_id"])}/deployments`, {
    body: "{}",
    headers: { "content-type": "application/json" },
  });
  expect(await readActivity(db(), tenant.org_id)).toEqual({
    period: periodOf(new Date()),
    deployments: 2,
    requests: 0,
    programs: 0,
  });
});

test("a period is a calendar month in UTC", () => {
  expect(periodOf(new Date("2026-07-31T23:59:59.999Z"))).toBe("2026-07");
  expect(periodOf(new Date("2026-08-01T01:00:00+02:00"))).toBe("2026-07");
});
