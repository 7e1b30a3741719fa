import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { AppStorageRecord } from "../../../domain/storage/app-storage-record.entity.ts";
import { readStorage } from "../../../domain/usage/get-usage.ts";
import { toTokenCounters } from "../../../domain/usage/token-counters.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const read = ({ org_id: orgId }: Tenant) => readStorage(service().service.parts.db, orgId, 5000);

async function givenStoringApp(tenant: Tenant, totalBytes: number, storageProblem: string | null = null) {
  const { id: appId, slug } = await service().givenApp(tenant);
  await em().nativeUpdate(App, { id: appId }, { storageProblem });
  const bytes = { sqlBytes: "1", keyValueBytes: "2", objectBytes: "3", durableBytes: "4" };
  await em().insert(AppStorageRecord, { appId, ...bytes, totalBytes: String(totalBytes), measuredAt: new Date() });
  return slug;
}

test("an organization without measured apps stores nothing", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  await service().givenApp(tenant);
  await givenStoringApp(other, 10);
  expect(await read(tenant)).toEqual({ limit_bytes_per_app: 5000, total_bytes: 0, apps: [] });
});

test("an app shows what it stores by kind, and whether it is stopped", async () => {
  const tenant = await service().tenant();
  const stopped = await givenStoringApp(tenant, 9_000_000_000_000, "The app is stopped.");
  const serving = await givenStoringApp(tenant, 10);
  const bytes = { sql: 1, key_value: 2, objects: 3, durable: 4 };
  expect(await read(tenant)).toEqual({
    limit_bytes_per_app: 5000,
    total_bytes: 9_000_000_000_010,
    apps: [
      { slug: stopped, total_bytes: 9_000_000_000_000, bytes, stopped: true },
      { slug: serving, total_bytes: 10, bytes, stopped: false },
    ],
  });
});

test("the 20 apps that store most are shown, and the others count too", async () => {
  const tenant = await service().tenant();
  const same = [await givenStoringApp(tenant, 100), await givenStoringApp(tenant, 100)];
  for (let n = 0; n < 19; n++) await givenStoringApp(tenant, n);
  const { apps, total_bytes: total } = await read(tenant);
  expect(apps.map(({ total_bytes }) => total_bytes)).toEqual([
    100,
    100,
    ...Array.from({ length: 18 }, (_, n) => 18 - n),
  ]);
  expect(apps.slice(0, 2).map(({ slug }) => slug)).toEqual(same.toSorted());
  expect(total).toBe(200 + (18 * 19) / 2);
});

test("the total of token counters is the sum of the four counters, as numbers or as text", () => {
  const counters = { input: 1000, output: 200, cache_read: 30, cache_write: 4, total: 1234 };
  const counts = { input_tokens: 1000, output_tokens: 200, cache_read_tokens: 30, cache_write_tokens: 4 };
  expect(toTokenCounters(counts)).toEqual(counters);
  const texts = Object.fromEntries(Object.entries(counts).map(([metric, count]) => [metric, String(count)]));
  expect(toTokenCounters(texts)).toEqual(counters);
  expect(toTokenCounters({ output_tokens: "7" })).toEqual({
    input: 0,
    output: 7,
    cache_read: 0,
    cache_write: 0,
    total: 7,
  });
});
