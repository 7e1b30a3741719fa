import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { deploymentLogKey } from "../../../domain/apps/app-resources.ts";
import { claimDeployment } from "../../../domain/deployments/claim-deployment.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { enqueueDeployment } from "../../../domain/deployments/enqueue-deployment.ts";
import { requeueDeployment } from "../../../domain/deployments/finish-deployment.ts";
import { LeaseLost } from "../../../domain/deployments/lease.ts";
import { readDeploymentLog } from "../../../domain/deployments/read-deployment-log.ts";
import { sweep } from "../../../domain/deployments/sweep.ts";
import { transitionDeployment } from "../../../domain/deployments/transition-deployment.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { UsageCount } from "../../../domain/usage/usage-count.entity.ts";
import { givenSecondDeployment } from "../../support/service/given-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;
const em = () => deps().em.fork();
const appOf = (id: string) => em().findOneOrFail(App, { id });
const deploymentOf = (id: string) => em().findOneOrFail(Deployment, { id });
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

const waitingJobs = async (deploymentId: string) =>
  (await deps().jobs.listWaiting("deployment")).filter((job) => job.deploymentId === deploymentId).length;

async function givenQueuedApp() {
  const app = await service().givenApp(await service().tenant(), { status: "queued" });
  return { app, deploymentId: app.latestDeploymentId };
}

test("a claim returns what a worker needs, and raises the fencing token of the app and of the deployment", async () => {
  const { app, deploymentId } = await givenQueuedApp();
  await em().nativeUpdate(App, { id: app.id }, { fencingToken: 7, tokenVersion: 3 });
  await em().nativeUpdate(Deployment, { id: deploymentId }, { customization: "Change it.", status: "building" });
  const claimed = await claimDeployment(em(), deploymentId);
  const { id: appId, orgId, slug, repo, branch } = app;
  const source = { slug, repo, branch, customization: "Change it.", logKey: deploymentLogKey(appId, 1) };
  const ids = { deploymentId, appId, orgId };
  const defaults = {
    number: 1,
    trigger: "deploy",
    archiveId: null,
    importKey: null,
    gitHost: null,
    branchIsDefault: false,
    requestedCommit: null,
    rollbackToId: null,
    promotedFromId: null,
    promotedFrom: null,
  };
  const settings = { buildNetwork: false, rootDirectory: null, requestedRuntime: null };
  expect(claimed).toEqual({
    ...ids,
    ...source,
    ...defaults,
    ...settings,
    isCanceled: false,
    tokenVersion: 3,
    attempt: 1,
    fencingToken: 8,
  });
  expect(await appOf(appId)).toMatchObject({ fencingToken: 8, status: "queued" });
  const deployment = await deploymentOf(deploymentId);
  expect(deployment).toMatchObject({ fencingToken: 8, status: "queued", attempts: 1 });
  expect(deployment.startedAt?.getTime()).toBe(deployment.leaseRenewedAt?.getTime());
  await em().nativeUpdate(
    Deployment,
    { id: deploymentId },
    { leaseRenewedAt: minutesAgo(1), startedAt: minutesAgo(5) },
  );
  expect(await claimDeployment(em(), deploymentId)).toMatchObject({ attempt: 2, fencingToken: 9 });
  const again = await deploymentOf(deploymentId);
  expect(again.startedAt!.getTime()).toBeLessThan(minutesAgo(4).getTime());
  expect(again.leaseRenewedAt!.getTime()).toBeGreaterThan(minutesAgo(1).getTime());
});

test("a claim of an older deployment does not change the status of the app", async () => {
  const { app, deploymentId } = await givenQueuedApp();
  await em().nativeUpdate(App, { id: app.id }, { status: "building", latestDeploymentId: randomUUID() });
  expect(await claimDeployment(em(), deploymentId)).not.toBeNull();
  expect(await appOf(app.id)).toMatchObject({ status: "building" });
});

test("a finished or absent deployment cannot be claimed", async () => {
  const { app, deploymentId } = await givenQueuedApp();
  for (const status of ["ready", "failed", "canceled", "superseded"] as const) {
    await em().nativeUpdate(Deployment, { id: deploymentId }, { status });
    expect([status, await claimDeployment(em(), deploymentId)]).toEqual([status, null]);
  }
  await em().nativeUpdate(Deployment, { id: deploymentId }, { status: "queued" });
  await em().nativeDelete(App, { id: app.id });
  expect(await claimDeployment(em(), deploymentId)).toBeNull();
  expect(await claimDeployment(em(), randomUUID())).toBeNull();
});

test("a transition shows its details, keeps omitted ones, and ends the lease with a final status", async () => {
  const { app, deploymentId } = await givenQueuedApp();
  const claimed = (await claimDeployment(em(), deploymentId))!;
  const transition = (
    ...change: [Parameters<typeof transitionDeployment>[2], Parameters<typeof transitionDeployment>[3]?]
  ) => em().transactional((tx) => transitionDeployment(tx, claimed, ...change));
  await em().nativeUpdate(App, { id: app.id }, { updatedAt: minutesAgo(5) });
  const manifest = { sql_database_id: "a", object_bucket_name: "b" };
  await transition("cloning", { statusMessage: "Cloning.", error: "before", manifest });
  const cloning = { status: "cloning", statusMessage: "Cloning.", error: "before" };
  expect(await deploymentOf(deploymentId)).toMatchObject({ ...cloning, finishedAt: null });
  expect((await deploymentOf(deploymentId)).leaseRenewedAt).not.toBeNull();
  const shown = await appOf(app.id);
  expect(shown).toMatchObject({ ...cloning, manifest });
  expect(shown.updatedAt.getTime()).toBeGreaterThan(minutesAgo(1).getTime());
  await transition("building");
  expect(await appOf(app.id)).toMatchObject({ ...cloning, status: "building", manifest });
  await transition("failed", { error: null, manifest: null });
  const failed = { status: "failed", statusMessage: "Cloning.", error: null };
  expect(await appOf(app.id)).toMatchObject({ ...failed, manifest: null });
  const deployment = await deploymentOf(deploymentId);
  expect(deployment).toMatchObject({ ...failed, leaseRenewedAt: null });
  expect(deployment.finishedAt!.getTime()).toBeGreaterThan(minutesAgo(1).getTime());
  await expect(transition("building")).rejects.toBeInstanceOf(LeaseLost);
});

test("a transition of an older deployment does not change what the app shows", async () => {
  const { app, deploymentId } = await givenQueuedApp();
  const claimed = (await claimDeployment(em(), deploymentId))!;
  await em().nativeUpdate(App, { id: app.id }, { status: "ready", latestDeploymentId: randomUUID() });
  await em().transactional((tx) => transitionDeployment(tx, claimed, "cloning", { statusMessage: "Cloning." }));
  expect(await appOf(app.id)).toMatchObject({ status: "ready", statusMessage: null, manifest: null });
  expect(await deploymentOf(deploymentId)).toMatchObject({ status: "cloning", statusMessage: "Cloning." });
});

test("a deployment that goes back to the queue has no lease, a message and one more job", async () => {
  const { app, deploymentId } = await givenQueuedApp();
  const claimed = (await claimDeployment(em(), deploymentId))!;
  await requeueDeployment(deps(), claimed);
  expect(await deploymentOf(deploymentId)).toMatchObject({ status: "queued", attempts: 0, leaseRenewedAt: null });
  expect((await appOf(app.id)).statusMessage).toContain("after a restart");
  expect(await waitingJobs(deploymentId)).toBe(1);
});

test("a new deployment is recorded, counted and queued together", async () => {
  const { app } = await givenQueuedApp();
  const { id: appId, orgId, repo = null, branch = null } = app;
  const request = {
    appId,
    orgId,
    createdBy: null,
    number: 2,
    trigger: "deploy",
    repo,
    gitHost: null,
    branch,
    archiveId: null,
    customization: null,
    branchIsDefault: false,
    rootDirectory: null,
    buildNetwork: false,
    requestedRuntime: null,
  } as const;
  const [committed, rolledBack] = [randomUUID(), randomUUID()];
  await em().transactional((tx) => enqueueDeployment(tx, deps().jobs, { ...request, id: committed }));
  const failing = em().transactional(async (tx) => {
    await enqueueDeployment(tx, deps().jobs, { ...request, id: rolledBack, number: 3 });
    throw new Error("rolled back");
  });
  await expect(failing).rejects.toThrow("rolled back");
  expect(await deploymentOf(committed)).toMatchObject({ status: "queued", logKey: deploymentLogKey(appId, 2) });
  expect(await em().count(Deployment, { id: rolledBack })).toBe(0);
  expect([await waitingJobs(committed), await waitingJobs(rolledBack)]).toEqual([1, 0]);
  const counts = await em().find(UsageCount, { orgId });
  const counted = { metric: "deployments", count: "1" };
  expect(counts).toMatchObject([
    { ...counted, subjectId: orgId },
    { ...counted, subjectId: appId },
  ]);
});

test("the log of an app shows its status, and is null while none is stored", async () => {
  const { app } = await givenQueuedApp();
  const caller = { orgId: app.orgId } as Caller;
  const read = () => readDeploymentLog({ db: service().service.parts.db, objects: deps().objects }, caller, app.id);
  const shown = { status: "queued", status_message: null, error: null };
  expect(await read()).toEqual({ ...shown, logs: null });
  await deps().objects.put("build-logs", deploymentLogKey(app.id, 1), new TextEncoder().encode("grüße\n"));
  expect(await read()).toEqual({ ...shown, logs: "grüße\n" });
});

test("a sweep queues stalled work again, and leaves recent, leased and finished work alone", async () => {
  const { deploymentId: neverLeased } = await givenQueuedApp();
  const { deploymentId: leased } = await givenQueuedApp();
  const { deploymentId: stalled } = await givenQueuedApp();
  const finished = (await service().givenApp(await service().tenant(), { status: "ready" })).latestDeploymentId;
  await em().nativeUpdate(Deployment, { id: leased }, { leaseRenewedAt: minutesAgo(0.5) });
  await em().nativeUpdate(Deployment, { id: stalled }, { leaseRenewedAt: minutesAgo(2) });
  const [recent, old] = [
    await service().givenApp(await service().tenant(), { status: "deleting" }),
    await service().givenApp(await service().tenant(), { status: "deleting" }),
  ];
  await em().nativeUpdate(App, { id: recent.id }, { updatedAt: minutesAgo(0.5) });
  await em().nativeUpdate(App, { id: old.id }, { updatedAt: minutesAgo(2) });
  const report = await sweep(deps());
  const ids = [neverLeased, leased, stalled, finished];
  expect(await Promise.all(ids.map(waitingJobs))).toEqual([1, 0, 1, 0]);
  const teardowns = (await deps().jobs.listWaiting("teardown")).map(({ appId }) => appId);
  expect(teardowns).toContain(old.id);
  expect(teardowns).not.toContain(recent.id);
  expect(report.teardowns).toBe(1);
});

test("a second deployment keeps the app's procedures until it is ready, and a stale worker cannot requeue it", async () => {
  const app = await service().givenApp(await service().tenant());
  const second = await givenSecondDeployment(em(), app, "queued");
  expect((await claimDeployment(em(), second.deploymentId))!.fencingToken).toBe(second.fencingToken + 1);
  await expect(requeueDeployment(deps(), second)).rejects.toBeInstanceOf(LeaseLost);
  expect(await appOf(app.id)).toMatchObject({ liveDeploymentId: app.liveDeploymentId });
});
