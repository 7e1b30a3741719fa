import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { browseApps } from "../../../domain/apps/browse-apps.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { givenSecondDeployment } from "../../support/service/given-app.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { discoveredProcedure, givenProcedures } from "../../support/edge/live-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

/** All pages of the organization's apps, read one after the other. */
async function pagesOf({ org_id: orgId, user_id: userId }: Tenant, limit: number) {
  const caller: Caller = {
    orgId,
    userId,
    role: "member",
    scope: "read",
    credential: { kind: "personal_access_token", id: "one" },
  };
  const deps = service().service.parts.service;
  const pages = [await browseApps(deps, caller, { limit })];
  for (let cursor = pages[0]?.next_cursor; cursor; cursor = pages.at(-1)?.next_cursor)
    pages.push(await browseApps(deps, caller, { limit, cursor }));
  return pages;
}

test("each app shows the number of its own procedures that can be called now", async () => {
  const tenant = await service().tenant();
  const some = await service().givenApp(tenant, { name: "some", createdAt: new Date(3) });
  const building = await service().givenApp(tenant, { name: "building", status: "building", createdAt: new Date(2) });
  await service().givenApp(tenant, { name: "none", createdAt: new Date(1) });
  const updating = await service().givenApp(tenant, { name: "updating", createdAt: new Date(0) });
  await givenSecondDeployment(service().service.parts.orm.em.fork(), updating, "provisioning");
  const deleting = await service().givenApp(tenant, { name: "deleting", status: "deleting", createdAt: new Date(-1) });
  const foreign = await service().givenApp(await service().tenant());
  for (const app of [some, building, updating, deleting, foreign])
    await givenProcedures(
      service(),
      app,
      ["a", "b", "c"].map((n) => discoveredProcedure(n)),
    );
  const [page] = await pagesOf(tenant, 10);
  expect(page?.apps.map(({ name, procedure_count: count }) => [name, count])).toEqual([
    ["some", 3],
    ["building", 0],
    ["none", 0],
    ["updating", 3],
    ["deleting", 0],
  ]);
});

test("a page ends before it gets too long, and the next page continues there", async () => {
  const tenant = await service().tenant();
  const ids: string[] = [];
  for (let day = 1; day <= 60; day++)
    ids.unshift((await service().givenApp(tenant, { createdAt: new Date(Date.UTC(2026, 0, day)) })).id);
  const em = service().service.parts.orm.em.fork();
  await em.nativeUpdate(App, { orgId: tenant.org_id }, { statusMessage: "Read me. ".repeat(100) });
  const pages = await pagesOf(tenant, 100);
  expect(pages.length).toBeGreaterThan(1);
  for (const page of pages) expect(JSON.stringify(page).length).toBeLessThanOrEqual(24_000);
  expect(pages.flatMap(({ apps }) => apps.map(({ id }) => id))).toEqual(ids);
});

test("an app that is longer than a page gets a page of its own, so that reading can continue", async () => {
  const tenant = await service().tenant();
  for (const at of [1, 2]) await service().givenApp(tenant, { createdAt: new Date(at) });
  const em = service().service.parts.orm.em.fork();
  await em.nativeUpdate(App, { orgId: tenant.org_id }, { statusMessage: "x".repeat(30_000) });
  expect((await pagesOf(tenant, 100)).map(({ apps }) => apps.length)).toEqual([1, 1]);
});

test("apps with the same creation time are neither repeated nor skipped between pages", async () => {
  const tenant = await service().tenant();
  for (let at = 0; at < 7; at++) await service().givenApp(tenant, { createdAt: new Date(0) });
  const pages = await pagesOf(tenant, 3);
  expect(pages.map(({ apps }) => apps.length)).toEqual([3, 3, 1]);
  expect(new Set(pages.flatMap(({ apps }) => apps.map(({ id }) => id))).size).toBe(7);
});
