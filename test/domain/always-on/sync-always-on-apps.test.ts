import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { syncAlwaysOnApps } from "../../../domain/always-on/sync-always-on-apps.ts";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import type { StoredApp } from "../../../domain/ports/app-storage.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

const withAlwaysOn = (alwaysOnApps: number) => ({ ...DEFAULT_LIMITS, apps: 10, alwaysOnApps });
const PLANS = new Plans({ free: withAlwaysOn(0), one: withAlwaysOn(1), two: withAlwaysOn(2) }, "free");

type Tenant = Awaited<ReturnType<ReturnType<typeof service>["tenant"]>>;

let created = 0;

/** Records a Node server that is live. Each one is younger than those before. */
async function givenServer(
  tenant: Tenant,
  changes: Partial<Pick<App, "runtime" | "status" | "liveDeploymentId">> = {},
) {
  const createdAt = new Date(Date.UTC(2026, 0, 1, 0, 0, ++created));
  const { id, slug } = await service().givenApp(tenant, { status: "ready", createdAt });
  const em = service().service.parts.orm.em.fork();
  await em.nativeUpdate(App, { id }, { runtime: "node", ...changes });
  return slug;
}

/** The slugs of the apps that are always on, without those of other tests. */
async function alwaysOn(own: readonly string[], plans = PLANS): Promise<string[]> {
  let kept: readonly StoredApp[] = [];
  const platform = { set: (apps: readonly StoredApp[]) => void (kept = apps) };
  await syncAlwaysOnApps({ db: service().service.parts.db, plans, alwaysOn: platform });
  return kept.map(({ slug }) => slug).filter((slug) => own.includes(slug));
}

test("the Node servers that an organization created first are always on, as many as its plan says", async () => {
  const [first, second] = [await service().tenant({ plan: "two" }), await service().tenant({ plan: "one" })];
  const other = await service().tenant({ plan: "free" });
  const servers = [];
  for (const tenant of [first, first, first, second, second, other]) servers.push(await givenServer(tenant));
  // The first of each organization, and then the second of each.
  expect(await alwaysOn(servers)).toEqual([servers[0], servers[3], servers[1]]);
});

test("Workers, apps that were never live and apps that are deleted are not always on", async () => {
  const tenant = await service().tenant({ plan: "one" });
  const worker = await givenServer(tenant, { runtime: "worker" });
  const failed = await givenServer(tenant, { liveDeploymentId: null });
  const deleted = await givenServer(tenant, { status: "deleting" });
  const live = await givenServer(tenant);
  expect(await alwaysOn([worker, failed, deleted, live])).toEqual([live]);
});

test("no app is always on if no plan has such apps", async () => {
  const tenant = await service().tenant({ plan: "one" });
  const server = await givenServer(tenant);
  const plans = new Plans({ free: withAlwaysOn(0) }, "free");
  expect([await alwaysOn([server]), await alwaysOn([server], plans)]).toEqual([[server], []]);
});
