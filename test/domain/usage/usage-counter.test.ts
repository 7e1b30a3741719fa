import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Db } from "../../../domain/database-types.ts";
import { readActivity } from "../../../domain/usage/get-usage.ts";
import { addCounts, UsageCounter } from "../../../domain/usage/usage-counter.ts";
import { periodOf } from "../../../domain/usage/usage-period.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
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

test("requests that could not be written are written by the next flush", async () => {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant);
  const counter = new UsageCounter();
  counter.countRequest(id);
  await em().execute("alter table usage_counts rename to unavailable");
  await expect(counter.flush(db())).rejects.toThrow("usage_counts");
  await em().execute("alter table unavailable rename to usage_counts");
  counter.countRequest(id);
  await counter.flush(db());
  expect((await readActivity(db(), tenant.org_id)).requests).toBe(2);
});

test("a flush without counts, or with those of deleted apps only, writes nothing", async () => {
  const counter = new UsageCounter();
  const empty = {} as Db;
  await counter.flush(empty);
  counter.countRequest(randomUUID());
  const before = await em().execute("select count(*)::int as rows from usage_counts");
  await counter.flush(db());
  expect(await em().execute("select count(*)::int as rows from usage_counts")).toEqual(before);
});

test("counts are written for each app and month, any number at once, and added to those that exist", async () => {
  const { org_id: orgId } = await service().tenant();
  const period = periodOf(new Date());
  const subjects = Array.from({ length: 1001 }, () => randomUUID());
  const row = { org_id: orgId, period, metric: "requests" as const, count: 2 };
  const rows = subjects.map((subject_id) => ({ ...row, subject_id }));
  await addCounts(db(), []);
  await addCounts(db(), rows);
  await addCounts(db(), rows.slice(0, 1));
  await addCounts(db(), [{ ...rows[0]!, period: "2020-01" }]);
  expect(await readActivity(db(), orgId)).toMatchObject({ period, requests: 2004, programs: 0, deployments: 0 });
  const [stored] = await em().execute<object[]>("select count(*)::int as rows from usage_counts where org_id = ?", [
    orgId,
  ]);
  expect(stored).toEqual({ rows: 1002 });
});

test("usage counts the accepted deployments of the month, also of failed and deleted apps", async () => {
  const tenant = await service().tenant();
  const accepted = await tenant.rest.deploy({ repo: "acme/site" });
  await tenant.rest.deploy({ repo: "../.." });
  await tenant.rest.send("POST", `/v1/apps/${String(accepted.body["app_id"])}/deployments`, {
    body: "{}",
    headers: { "content-type": "application/json" },
  });
  expect(await readActivity(db(), tenant.org_id)).toMatchObject({
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

test("without counts, nothing is written", async () => {
  await expect(addCounts(db(), [])).resolves.toBeUndefined();
});
