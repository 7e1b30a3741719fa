import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { claimDeployment } from "../../../domain/deployments/claim-deployment.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import {
  endCanceledDeployment,
  failDeployment,
  finishDeployment,
  requeueDeployment,
} from "../../../domain/deployments/finish-deployment.ts";
import { LeaseLost } from "../../../domain/deployments/lease.ts";
import { listProcedures } from "../../../domain/procedures/list-procedures.ts";
import { discoveredProcedure } from "../../support/edge/live-app.ts";
import { ALL_RESOURCES, provision, resourcesOf } from "../../support/edge/platform-resources.ts";
import { claimedDeployment, type GivenApp, givenSecondDeployment } from "../../support/service/given-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

// No worker runs, so a test itself claims deployments.
const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;
const em = () => deps().em.fork();
const RESULT = { procedures: [], statusMessage: null, artifactKey: null, framework: null };
const SHOWN = { error: "No.", statusMessage: "Change it." };

async function givenApp(fields: GivenApp = {}) {
  const app = await service().givenApp(await service().tenant(), fields);
  return {
    app,
    change: (changes: Partial<App>) => em().nativeUpdate(App, { id: app.id }, changes),
    update: (changes: Partial<Deployment>) => em().nativeUpdate(Deployment, { id: app.latestDeploymentId }, changes),
    find: () => em().findOneOrFail(Deployment, { id: app.latestDeploymentId }),
    record: () => em().findOneOrFail(App, { id: app.id }),
  };
}

test("a claim returns the commit, the folder and the target of a rollback, and the app is queued again", async () => {
  const { app, update, change, record } = await givenApp({ status: "building" });
  const rollbackToId = app.id;
  const requested = { requestedCommit: "a".repeat(40), rootDirectory: "apps/web", rollbackToId };
  await update({ ...requested, cancelRequestedAt: new Date() });
  await change({ status: "building" });
  expect(await claimDeployment(em(), app.latestDeploymentId)).toMatchObject({ ...requested, isCanceled: true });
  expect(await record()).toMatchObject({ status: "queued" });
});

test("a deployment that ends without a result removes the resources of an app that was never live", async () => {
  const canceled = { error: null, statusMessage: "The deployment was canceled. Deploy again to continue." };
  for (const end of ["failed", "canceled"] as const) {
    const { app, record, find } = await givenApp({ status: "provisioning" });
    await provision(deps(), app);
    const claimed = claimedDeployment(app);
    await (end === "failed" ? failDeployment(deps(), claimed, SHOWN) : endCanceledDeployment(deps(), claimed));
    expect(await resourcesOf(deps(), app)).toEqual(["log"]);
    const shown = { status: end, ...(end === "failed" ? SHOWN : canceled) };
    expect([await record(), await find()]).toMatchObject([shown, shown]);
  }
});

test("the worker of a deployment that has ended already, or of a deleted app, removes no resources", async () => {
  const [ended, deleted] = [await givenApp({ status: "building" }), await givenApp({ status: "building" })];
  await provision(deps(), ended.app);
  await provision(deps(), deleted.app);
  await ended.update({ status: "failed" });
  await deleted.change({ fencingToken: deleted.app.fencingToken + 1, status: "deleting" });
  for (const { app } of [ended, deleted]) {
    await expect(failDeployment(deps(), claimedDeployment(app), SHOWN)).rejects.toBeInstanceOf(LeaseLost);
    expect(await resourcesOf(deps(), app)).toEqual(ALL_RESOURCES);
  }
});

test("the end of a deployment changes no other deployment and no procedure of another one", async () => {
  const others = [await givenApp(), await givenApp({ status: "building" })];
  for (const { update } of others) await update({ attempts: 5, leaseRenewedAt: new Date() });
  const before = await Promise.all(others.map(({ find }) => find()));
  const live = await givenApp();
  const second = await givenSecondDeployment(em(), live.app, "provisioning");
  const procedures = [discoveredProcedure("hello")];
  await finishDeployment(deps(), second, { ...RESULT, procedures, artifactKey: "key" });
  expect((await live.find()).artifactKey ?? null).toBeNull();
  await failDeployment(deps(), await givenSecondDeployment(em(), await live.record(), "provisioning", 3), SHOWN);
  const { value } = await listProcedures(service().service.parts.db, live.app.orgId);
  expect(value.map(({ name }) => name)).toEqual(["hello"]);
  const queued = await givenApp({ status: "queued" });
  await requeueDeployment(deps(), (await claimDeployment(em(), queued.app.latestDeploymentId))!);
  expect(await Promise.all(others.map(({ find }) => find()))).toEqual(before);
});

test("of the deployments that wait, the one with the lowest number is queued next", async () => {
  const { app, record } = await givenApp({ status: "building" });
  for (const number of [4, 2, 3]) await givenSecondDeployment(em(), await record(), "queued", number);
  await em().nativeUpdate(App, { id: app.id }, { fencingToken: app.fencingToken });
  await failDeployment(deps(), claimedDeployment(app), SHOWN);
  const second = await em().findOneOrFail(Deployment, { appId: app.id, number: 2 });
  const jobs = (await deps().jobs.listWaiting("deployment")).filter(({ orgId }) => orgId === app.orgId);
  expect(jobs.map(({ deploymentId }) => deploymentId)).toEqual([second.id]);
});
