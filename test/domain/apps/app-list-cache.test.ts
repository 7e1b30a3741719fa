import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { AppListCache } from "../../../domain/apps/app-list-cache.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { givenProcedures, offered } from "../../support/edge/served-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const openPages = () => new AppListCache(service().service.parts.db, (slug) => `https://${slug}.example`);

/** Every record has the same timestamps, so that a change is noticed by the row version alone. */
const MOMENT = new Date("2026-11-20T09:30:00.000Z");
const givenApp = (tenant: Tenant, name: string) => service().givenApp(tenant, { name, createdAt: MOMENT });

async function namesIn(pages: AppListCache, { org_id: orgId }: Tenant, limit = 10): Promise<string[]> {
  return (await pages.of(orgId, limit)).apps.map(({ name }) => name).toSorted();
}

test("a page is the same frozen object until an app on it changes", async () => {
  const tenant = await service().tenant();
  const pages = openPages();
  const { id } = await givenApp(tenant, "one");
  const page = await pages.of(tenant.org_id, 10);
  expect(await pages.of(tenant.org_id, 10)).toBe(page);
  expect([page, page.apps, page.apps[0]].map((part) => Object.isFrozen(part))).toEqual([true, true, true]);
  await em().nativeUpdate(App, { id }, { statusMessage: "Something to read", updatedAt: MOMENT });
  const [app] = (await pages.of(tenant.org_id, 10)).apps;
  expect(app?.status_message).toBe("Something to read");
});

test("a page shows apps that are added or removed, also the first and the last one", async () => {
  const tenant = await service().tenant();
  const pages = openPages();
  expect(await namesIn(pages, tenant)).toEqual([]);
  const gone = await givenApp(tenant, "gone");
  expect(await namesIn(pages, tenant)).toEqual(["gone"]);
  await em().nativeDelete(App, { id: gone.id });
  await givenApp(tenant, "came");
  expect(await namesIn(pages, tenant)).toEqual(["came"]);
  await em().nativeDelete(App, { orgId: tenant.org_id });
  expect(await namesIn(pages, tenant)).toEqual([]);
});

test("an app that is added or removed after the page changes whether there is a next page", async () => {
  const tenant = await service().tenant();
  const pages = openPages();
  const more = async () => (await pages.of(tenant.org_id, 1)).next_cursor !== null;
  await givenApp(tenant, "one");
  expect(await more()).toBe(false);
  const { id } = await service().givenApp(tenant, { createdAt: new Date(0) });
  expect(await more()).toBe(true);
  await em().nativeDelete(App, { id });
  expect(await more()).toBe(false);
});

test("a page shows an app's procedures while the app has a live deployment", async () => {
  const tenant = await service().tenant();
  const pages = openPages();
  const app = await service().givenApp(tenant, { status: "building", createdAt: MOMENT });
  const count = async () => (await pages.of(tenant.org_id, 10)).apps[0]?.procedure_count;
  await givenProcedures(service(), app, [offered("a"), offered("b")]);
  expect(await count()).toBe(0);
  const { id, latestDeploymentId: liveDeploymentId } = app;
  await em().nativeUpdate(App, { id }, { status: "ready", liveDeploymentId, updatedAt: MOMENT });
  expect(await count()).toBe(2);
  await em().nativeUpdate(App, { id }, { status: "building", updatedAt: MOMENT });
  expect(await count()).toBe(2);
  await em().nativeUpdate(App, { id }, { status: "deleting", updatedAt: MOMENT });
  expect(await count()).toBe(0);
});

test("organizations that request pages at the same time each get their own page", async () => {
  const tenants = [await service().tenant(), await service().tenant(), await service().tenant()];
  const pages = openPages();
  for (const [index, tenant] of tenants.entries()) await givenApp(tenant, `app-${index}`);
  for (const _time of [1, 2])
    expect(await Promise.all(tenants.map((tenant) => namesIn(pages, tenant)))).toEqual([
      ["app-0"],
      ["app-1"],
      ["app-2"],
    ]);
});
