import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { APP_STATUSES, type AppStatus } from "../../../domain/apps/app-status.ts";
import { checkAppQuota, countAppsInPlan, countsInPlan, lockOrganization } from "../../../domain/apps/app-quota.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

/** Records an app with a status, which was live before if `isLive`. */
async function givenApp(tenant: { org_id: string; user_id: string }, status: AppStatus, isLive: boolean) {
  const app = await service().givenApp(tenant, { status });
  const liveDeploymentId = isLive ? app.latestDeploymentId : null;
  await em().nativeUpdate(App, { id: app.id }, { liveDeploymentId });
  return em().findOneOrFail(App, { id: app.id });
}

test("an app counts against the plan, unless it failed or was canceled before it was ever live", async () => {
  for (const status of APP_STATUSES)
    for (const isLive of [true, false]) {
      const tenant = await service().tenant();
      const app = await givenApp(tenant, status, isLive);
      const counts = isLive || !["failed", "canceled"].includes(status);
      expect([status, isLive, countsInPlan(app)]).toEqual([status, isLive, counts]);
      expect([status, isLive, await countAppsInPlan(em(), tenant.org_id)]).toEqual([status, isLive, counts ? 1 : 0]);
    }
});

test("a plan has room until as many apps count as it allows, and apps of other organizations do not count", async () => {
  const { plans } = service().service.parts.service;
  const [tenant, other] = [await service().tenant({ plan: "free" }), await service().tenant({ plan: "free" })];
  const check = () =>
    em().transactional(async (tx) => checkAppQuota(tx, plans, await lockOrganization(tx, tenant.org_id)));
  const { apps: limit } = plans.getLimits("free");
  for (let n = 1; n < limit; n++) await service().givenApp(tenant);
  await service().givenApp(tenant, { status: "failed" });
  await service().givenApp(other);
  expect(await check()).toBeUndefined();
  await service().givenApp(tenant, { status: "queued" });
  await expect(check()).rejects.toMatchObject({ code: "plan_limit" });
});

test("while one transaction has locked an organization, another one waits for it", async () => {
  const { org_id: orgId } = await service().tenant();
  const order: string[] = [];
  let second: Promise<unknown> | undefined;
  await em().transactional(async (tx) => {
    await lockOrganization(tx, orgId);
    second = em().transactional(async (other) => {
      await lockOrganization(other, orgId);
      order.push("second");
    });
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => em().execute(waiting)).toHaveLength(1);
    order.push("first");
  });
  await second;
  expect(order).toEqual(["first", "second"]);
});
