import { randomUUID } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import type { Caller } from "../../../domain/shared/caller.ts";
import { type DailyUsage, type DailyUsageRequest, getDailyUsage } from "../../../domain/usage/get-daily-usage.ts";
import { readActivity } from "../../../domain/usage/get-usage.ts";
import { addCounts, UsageCounter } from "../../../domain/usage/usage-counter.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { verifies } from "../../support/verifies.ts";

const service = sharedHarness();
const db = () => service().service.parts.db;
const read = (orgId: string, request: DailyUsageRequest = {}) =>
  getDailyUsage({ db: db() }, { orgId } as Caller, request);

afterEach(() => void vi.useRealTimers());

function at(time: string): void {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(time) });
}

verifies("usage.daily", "requests and their errors are counted for each day and app, and for the month", async () => {
  const tenant = await service().tenant();
  const [first, second] = [await service().givenApp(tenant), await service().givenApp(tenant, { name: "other" })];
  const counter = new UsageCounter();
  at("2026-07-30T23:59:59Z");
  for (const { id } of [first, first, second]) counter.countRequest(id);
  counter.countServerError(first.id);
  at("2026-07-31T00:00:01Z");
  counter.countRequest(second.id);
  counter.countRequest(second.id);
  await counter.flush(db());
  await counter.flush(db());
  const { days, apps } = await read(tenant.org_id, { days: 3 });
  expect(days).toEqual([
    { day: "2026-07-29", requests: 0, errors: 0, deployments: 0 },
    { day: "2026-07-30", requests: 3, errors: 1, deployments: 0 },
    { day: "2026-07-31", requests: 2, errors: 0, deployments: 0 },
  ]);
  expect(apps).toEqual([
    { app_id: second.id, slug: second.slug, requests: 3, errors: 0, requests_by_day: [0, 1, 2] },
    { app_id: first.id, slug: first.slug, requests: 2, errors: 1, requests_by_day: [0, 2, 0] },
  ]);
  expect(await readActivity(db(), tenant.org_id)).toMatchObject({ period: "2026-07", requests: 5 });
  const ofFirst = await read(tenant.org_id, { days: 2, app_id: first.id });
  expect(ofFirst.days.map(({ requests, errors }) => [requests, errors])).toEqual([
    [2, 1],
    [0, 0],
  ]);
  expect(ofFirst.apps.map(({ app_id: id }) => id)).toEqual([first.id]);
});

test("deployments are counted by day and app, and for the month of the organization", async () => {
  const tenant = await service().tenant();
  const { body } = await tenant.rest.deploy({ repo: "acme/site" });
  await tenant.rest.deploy({ repo: "acme/site" });
  const id = String(body["app_id"]);
  await tenant.rest.post(`/v1/apps/${id}/deployments`, {});
  const deploymentsIn = async (query: string) => {
    const { days, apps } = (await tenant.rest.get(`/v1/usage/daily${query}`)).body as unknown as DailyUsage;
    return [days.length, days.reduce((sum, { deployments }) => sum + deployments, 0), apps];
  };
  expect(await deploymentsIn("")).toEqual([30, 3, []]);
  expect(await deploymentsIn(`?days=2&app_id=${id}`)).toEqual([2, 2, []]);
  expect(await readActivity(db(), tenant.org_id)).toMatchObject({ deployments: 3 });
});

test("the days include deleted apps, and no other organization's", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const [app, foreign] = [await service().givenApp(tenant), await service().givenApp(other)];
  const row = { period: "2026-07-31", metric: "requests" as const, org_id: tenant.org_id };
  await addCounts(db(), [
    { ...row, subject_id: app.id, count: 2 },
    { ...row, subject_id: randomUUID(), count: 40 },
    { ...row, subject_id: foreign.id, org_id: other.org_id, count: 100 },
  ]);
  at("2026-07-31T12:00:00Z");
  const { days, apps } = await read(tenant.org_id, { days: 1 });
  vi.useRealTimers();
  expect(days).toEqual([{ day: "2026-07-31", requests: 42, errors: 0, deployments: 0 }]);
  expect(apps.map(({ app_id: id, requests }) => [id, requests])).toEqual([[app.id, 2]]);
  const missing = [foreign.id, randomUUID()].map((id) => tenant.rest.get(`/v1/usage/daily?app_id=${id}`));
  const [hidden, absent] = await Promise.all(missing);
  expect([hidden!.status, hidden!.text]).toEqual([404, absent!.text]);
});

test("at most the 20 apps with the most requests are listed", async () => {
  const tenant = await service().tenant();
  const apps = [];
  for (let n = 0; n < 21; n++) apps.push(await service().givenApp(tenant));
  const row = { period: "2026-07-31", metric: "requests" as const, org_id: tenant.org_id };
  await addCounts(
    db(),
    apps.map(({ id }, n) => ({ ...row, subject_id: id, count: n + 1 })),
  );
  at("2026-07-31T12:00:00Z");
  const { apps: listed } = await read(tenant.org_id);
  expect(listed.map(({ requests }) => requests)).toEqual(Array.from({ length: 20 }, (_, n) => 21 - n));
});

test("400 explains an invalid number of days or app", async () => {
  const { rest } = await service().tenant();
  for (const query of ["days=0", "days=91", "days=x", "app_id=x", "week=1"])
    expect([query, (await rest.get(`/v1/usage/daily?${query}`)).status]).toEqual([query, 400]);
});
