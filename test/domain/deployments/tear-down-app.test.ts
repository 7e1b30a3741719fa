import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { App } from "../../../domain/apps/app.entity.ts";
import { claimDeployment } from "../../../domain/deployments/claim-deployment.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { releaseResources } from "../../../domain/deployments/release-resources.ts";
import { readTeardownStep, type TeardownStep } from "../../../domain/deployments/teardown-steps.ts";
import { sweep } from "../../../domain/deployments/sweep.ts";
import { tearDownApp, type TeardownDeps } from "../../../domain/deployments/tear-down-app.ts";
import { DependencyStore } from "../../../server/drivers/bundler/dependencies/dependency-store.ts";
import { AppStorageRecord } from "../../../domain/storage/app-storage-record.entity.ts";
import { AppVariable } from "../../../domain/variables/app-variable.entity.ts";
import { Procedure } from "../../../domain/procedures/procedure.entity.ts";
import { replaceProcedures } from "../../../domain/procedures/replace-procedures.ts";
import { discoveredProcedure } from "../../support/edge/live-app.ts";
import { ALL_RESOURCES, failing, provision, resourcesOf } from "../../support/edge/platform-resources.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;

async function recordOf(app: App): Promise<string | undefined> {
  const rows = await deps().em.fork().getConnection().execute("select status from apps where id = ?", [app.id]);
  return (rows as { status: string }[])[0]?.status;
}

/** The step that the app's status message names. */
async function readStep(app: App): Promise<TeardownStep | null> {
  const rows = await deps().em.fork().getConnection().execute("select status_message from apps where id = ?", [app.id]);
  return readTeardownStep((rows as { status_message: string }[])[0]?.status_message ?? null);
}

async function givenLiveApp(status: "ready" | "deleting" = "deleting"): Promise<App> {
  const app = await service().givenApp(await service().tenant(), { status });
  await provision(deps(), app);
  expect(await resourcesOf(deps(), app)).toEqual(ALL_RESOURCES);
  return app;
}

verifies(
  ["apps.delete.script", "apps.delete.database", "apps.delete.sources", "apps.delete.auth_entry", "apps.delete.record"],
  "a teardown removes the script, the database, the sources, the artifacts, the auth entry and the log, then the record",
  async () => {
    const app = await givenLiveApp();
    await tearDownApp(deps(), app.id);
    expect(await resourcesOf(deps(), app)).toEqual([]);
    expect(await recordOf(app)).toBeUndefined();
  },
);

/** For each provider: dependencies in which it fails once, the resources that the failed teardown leaves, and its step. */
const FAILURES: {
  provider: string;
  broken: (real: TeardownDeps) => TeardownDeps;
  left: string[];
  step: TeardownStep;
}[] = [
  {
    provider: "the edge",
    step: "script, files and keys",
    broken: (real) => ({ ...real, edge: failing(real.edge, "unpublish", 1) }),
    left: ALL_RESOURCES,
  },
  {
    provider: "the key-value store",
    step: "app token",
    broken: (real) => ({ ...real, authEntries: failing(real.authEntries, "remove", 1) }),
    left: ["database", "auth entry", "sources", "artifacts", "log"],
  },
  {
    provider: "the SQL platform",
    step: "SQL database",
    broken: (real) => ({ ...real, databases: failing(real.databases, "remove", 1) }),
    left: ["database", "sources", "artifacts", "log"],
  },
  {
    provider: "object storage",
    step: "sources",
    broken: (real) => ({ ...real, objects: failing(real.objects, "removeBucket", 1) }),
    left: ["sources", "artifacts", "log"],
  },
];

for (const { provider, broken, left, step } of FAILURES) {
  verifies(
    ["apps.delete.record", hazard(59), hazard(60), hazard(62)],
    `a teardown keeps the record while ${provider} fails, removes script, auth entry, database and objects in this order, and finishes when it is repeated`,
    async () => {
      const app = await givenLiveApp();
      const faulty = broken(deps());
      await expect(tearDownApp(faulty, app.id)).rejects.toThrow("500");
      expect([await recordOf(app), await resourcesOf(deps(), app)]).toEqual(["deleting", left]);
      expect(await readStep(app)).toBe(step);
      await tearDownApp(faulty, app.id);
      expect([await recordOf(app), await resourcesOf(deps(), app)]).toEqual([undefined, []]);
    },
  );
}

verifies(
  [hazard(57), hazard(59)],
  "a teardown succeeds when it runs twice at the same time, and when nothing is left",
  async () => {
    const app = await givenLiveApp();
    await Promise.all([tearDownApp(deps(), app.id), tearDownApp(deps(), app.id)]);
    await tearDownApp(deps(), app.id);
    await releaseResources(deps(), { appId: app.id, slug: app.slug });
    expect([await recordOf(app), await resourcesOf(deps(), app)]).toEqual([undefined, []]);
  },
);

test("a teardown does nothing for an app that is not being deleted", async () => {
  const app = await givenLiveApp("ready");
  await tearDownApp(deps(), app.id);
  expect([await recordOf(app), await resourcesOf(deps(), app)]).toEqual(["ready", ALL_RESOURCES]);
});

test("a teardown removes the variables, deployments, procedures and logs of its app, and those of no other", async () => {
  const [app, other] = [await givenLiveApp(), await givenLiveApp("ready")];
  const em = deps().em.fork();
  for (const { id: appId, orgId, latestDeploymentId: deploymentId } of [app, other]) {
    const flags = { sizeBytes: 1, isSecret: false, isForBuild: false };
    em.create(AppVariable, { appId, name: "MODE", sealedValue: "sealed", ...flags });
    const sizes = { sqlBytes: "0", keyValueBytes: "0", objectBytes: "0", durableBytes: "0", totalBytes: "0" };
    em.create(AppStorageRecord, { appId, ...sizes, measuredAt: new Date() });
    await em.transactional((tx) => replaceProcedures(tx, { deploymentId, appId, orgId }, [discoveredProcedure("a")]));
  }
  await em.flush();
  await tearDownApp(deps(), app.id);
  const countRows = (appId: string) =>
    Promise.all([
      em.count(AppVariable, { appId }),
      em.count(AppStorageRecord, { appId }),
      em.count(Procedure, { appId }),
      em.count(Deployment, { appId }),
    ]);
  expect([await countRows(app.id), await countRows(other.id)]).toEqual([
    [0, 0, 0, 0],
    [1, 1, 1, 1],
  ]);
  expect(await resourcesOf(deps(), other)).toEqual(ALL_RESOURCES);
});

test("a teardown waits for a worker that holds a lease, and not for one whose lease has expired", async () => {
  const [held, expired] = [await givenLiveApp(), await givenLiveApp()];
  const em = deps().em.fork();
  const lease = (app: App, renewedAt: Date | null) =>
    em.nativeUpdate(Deployment, { appId: app.id }, { leaseRenewedAt: renewedAt });
  await lease(expired, new Date(Date.now() - 11_000));
  await tearDownApp(deps(), expired.id);
  await lease(held, new Date());
  const removed: string[] = [];
  const { edge } = deps();
  const unpublish = (slug: string) => {
    removed.push(slug);
    return edge.unpublish(slug);
  };
  const teardown = tearDownApp({ ...deps(), edge: { unpublish } as typeof edge }, held.id);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect([removed, await resourcesOf(deps(), held)]).toEqual([[], ALL_RESOURCES]);
  await lease(held, null);
  await teardown;
  expect(await recordOf(held)).toBeUndefined();
});

test("the stored dependencies of an organization are removed with its last app, after a crash by a sweep", async () => {
  await using folder = await temporaryFolder();
  const dependencies = new DependencyStore(folder.path);
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const [first, last] = [
    await service().givenApp(tenant, { status: "deleting" }),
    await service().givenApp(tenant, { status: "deleting" }),
  ];
  await service().givenApp(other);
  const crashed = randomUUID();
  for (const orgId of [last.orgId, other.org_id, crashed]) await mkdir(path.join(folder.path, orgId));
  await tearDownApp({ ...deps(), dependencies }, first.id);
  expect((await dependencies.list()).toSorted()).toEqual([last.orgId, other.org_id, crashed].toSorted());
  await tearDownApp({ ...deps(), dependencies }, last.id);
  expect((await dependencies.list()).toSorted()).toEqual([other.org_id, crashed].toSorted());
  const { orphans } = await sweep({ ...deps(), dependencies });
  expect(orphans).toContain(`dependencies of organization ${crashed}`);
  expect(await dependencies.list()).toEqual([other.org_id]);
});

verifies([hazard(60), hazard(61)], "a sweep removes orphaned resources and nothing else", async () => {
  const living = await givenLiveApp("ready");
  const orphan = await givenLiveApp("ready");
  await deps().em.fork().getConnection().execute("delete from apps where id = ?", [orphan.id]);
  const report = await sweep(deps());
  expect(report.orphans.toSorted()).toEqual([
    `SQL database app-${orphan.id}`,
    `auth entry ${orphan.id}`,
    `bucket app-${orphan.id}`,
    `bucket artifacts-${orphan.id}`,
    `log ${orphan.id}/1.log`,
    `script ${orphan.slug}`,
  ]);
  expect(await resourcesOf(deps(), orphan)).toEqual([]);
  expect(await resourcesOf(deps(), living)).toEqual(ALL_RESOURCES);
  expect((await sweep(deps())).orphans).toEqual([]);
});

verifies([hazard(59), hazard(61)], "a sweep that cannot remove one orphaned resource removes the others", async () => {
  const orphan = await givenLiveApp("ready");
  await deps().em.fork().getConnection().execute("delete from apps where id = ?", [orphan.id]);
  await expect(sweep({ ...deps(), edge: failing(deps().edge, "unpublish", 1) })).rejects.toThrow("1 orphan");
  expect(await resourcesOf(deps(), orphan)).toEqual(["script"]);
  await sweep(deps());
  expect(await resourcesOf(deps(), orphan)).toEqual([]);
});

verifies(hazard(60), "a sweep queues a teardown and a deployment without a job again, once", async () => {
  const tenant = await service().tenant();
  const withoutJob = await service().givenApp(tenant, { status: "deleting" });
  await tenant.rest.deploy({ repo: "acme/site" });
  const connection = deps().em.fork().getConnection();
  await connection.execute("update apps set updated_at = now() - interval '1 hour' where id = ?", [withoutJob.id]);
  const jobs = async () =>
    (await connection.execute("select count(*)::int as n from jobs.job where state = 'created'", [])) as {
      n: number;
    }[];
  expect((await sweep(deps())).deployments).toBe(0);
  await connection.execute("delete from jobs.job where name in ('deployment', 'teardown')", []);
  const before = (await jobs())[0]?.n ?? 0;
  const report = await sweep(deps());
  expect([report.teardowns, report.deployments >= 1]).toEqual([1, true]);
  expect((await jobs())[0]?.n).toBe(before + report.teardowns + report.deployments);
  expect(await sweep(deps())).toMatchObject({ teardowns: 0, deployments: 0 });
});

test("a sweep does not queue a deployment that waits for an earlier one of its app", async () => {
  const tenant = await service().tenant();
  const { body } = await tenant.rest.deploy({ repo: "acme/site" });
  const appId = String(body["app_id"]);
  const first = await deps().em.fork().findOneOrFail(Deployment, { appId });
  await claimDeployment(deps().em, first.id);
  const second = await tenant.rest.post(`/v1/apps/${appId}/deployments`, {});
  await deps().em.fork().getConnection().execute("delete from jobs.job where name = 'deployment'", []);
  await sweep(deps());
  const queued = (await deps().jobs.listWaiting("deployment")).map(({ deploymentId }) => deploymentId);
  expect(queued).not.toContain(first.id);
  expect(queued).not.toContain(second.body["id"]);
});
