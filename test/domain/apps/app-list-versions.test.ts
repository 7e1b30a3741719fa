import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { AppListVersions, readPageVersion } from "../../../domain/apps/app-list-versions.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { discoveredProcedure, givenProcedures } from "../../support/edge/live-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const createVersions = () => new AppListVersions(service().service.parts.db);

/** Every app has the same timestamps, so that no timestamp shows a change. */
const MOMENT = new Date("2026-11-20T09:30:00.000Z");
const givenApp = (tenant: Tenant, name: string) => service().givenApp(tenant, { name, createdAt: MOMENT });

/** Reads the version before and after a change, and whether they differ. */
async function changesVersion({ org_id: orgId }: Tenant, count: number, change: () => Promise<unknown>) {
  const versions = createVersions();
  const before = await versions.read(orgId, count);
  expect(await versions.read(orgId, count)).toBe(before);
  await change();
  return (await versions.read(orgId, count)) !== before;
}

test("the version changes with every change of an app", async () => {
  const tenant = await service().tenant();
  const { id } = await givenApp(tenant, "one");
  const change = { statusMessage: "Changed", updatedAt: MOMENT };
  expect(await changesVersion(tenant, 10, () => em().nativeUpdate(App, { id }, change))).toBe(true);
});

test("the version changes when an app gets a live deployment and shows its procedures", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant, { status: "building", createdAt: MOMENT });
  await givenProcedures(service(), app, [discoveredProcedure("a"), discoveredProcedure("b")]);
  const change = { status: "ready", liveDeploymentId: app.latestDeploymentId, updatedAt: MOMENT } as const;
  expect(await changesVersion(tenant, 10, () => em().nativeUpdate(App, { id: app.id }, change))).toBe(true);
});

test("the version changes when the first app is created, an app is replaced, and the last app is deleted", async () => {
  const tenant = await service().tenant();
  const create = (name: string) => () => givenApp(tenant, name);
  expect(await changesVersion(tenant, 10, create("first"))).toBe(true);
  const replace = async () => {
    await em().nativeDelete(App, { orgId: tenant.org_id });
    await givenApp(tenant, "second");
  };
  expect(await changesVersion(tenant, 10, replace)).toBe(true);
  expect(await changesVersion(tenant, 10, () => em().nativeDelete(App, { orgId: tenant.org_id }))).toBe(true);
});

test("the version covers as many of the newest apps as requested", async () => {
  const tenant = await service().tenant();
  await givenApp(tenant, "newest");
  const older = await service().givenApp(tenant, { createdAt: new Date(0) });
  const change = (statusMessage: string) => () => em().nativeUpdate(App, { id: older.id }, { statusMessage });
  expect(await changesVersion(tenant, 1, change("a"))).toBe(false);
  expect(await changesVersion(tenant, 2, change("b"))).toBe(true);
});

test("the version of a first page covers the app after it, and later pages have no version", async () => {
  const tenant = await service().tenant();
  for (const [at, name] of ["third", "second", "first"].entries())
    await service().givenApp(tenant, { name, createdAt: new Date(at) });
  const caller = { orgId: tenant.org_id } as Caller;
  const appListVersions = createVersions();
  const version = () => readPageVersion({ appListVersions }, caller, { limit: 1 });
  const change = (name: string) => em().nativeUpdate(App, { orgId: tenant.org_id, name }, { statusMessage: "Changed" });
  const before = await version();
  await change("third");
  expect(await version()).toBe(before);
  await change("second");
  expect(await version()).not.toBe(before);
  expect(readPageVersion({ appListVersions }, caller, { limit: 1, cursor: "next" })).toBeNull();
});

test("concurrent reads return the version of their own organization and count", async () => {
  const tenants = [await service().tenant(), await service().tenant(), await service().tenant()];
  for (const tenant of tenants.slice(1)) for (const name of ["one", "two"]) await givenApp(tenant, name);
  const versions = createVersions();
  const requests = tenants.flatMap(({ org_id: orgId }) => [1, 2].map((count) => ({ orgId, count })));
  const concurrent = await Promise.all(
    [...requests, ...requests].map(({ orgId, count }) => versions.read(orgId, count)),
  );
  const single: string[] = [];
  for (const { orgId, count } of requests) single.push(await versions.read(orgId, count));
  expect(concurrent).toEqual([...single, ...single]);
  expect(new Set(single).size).toBe(5);
});

test("a failed query rejects only the reads that waited for it", async () => {
  const tenant = await service().tenant();
  await givenApp(tenant, "one");
  const versions = createVersions();
  await em().execute("alter table apps rename to apps_unavailable");
  try {
    const failed = [versions.read(tenant.org_id, 1), versions.read(tenant.org_id, 2)];
    for (const read of failed) await expect(read).rejects.toThrow("apps");
  } finally {
    await em().execute("alter table apps_unavailable rename to apps");
  }
  expect(await versions.read(tenant.org_id, 1)).toMatch(/^-?\d+$/);
});
