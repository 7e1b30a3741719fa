import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { cancelDeployment } from "../../../domain/deployments/cancel-deployment.ts";
import { claimDeployment } from "../../../domain/deployments/claim-deployment.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { endCanceledDeployment, finishDeployment } from "../../../domain/deployments/finish-deployment.ts";
import { redeployApp } from "../../../domain/deployments/redeploy-app.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { GivenApp } from "../../support/service/given-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

// No worker runs, so a test itself ends deployments.
const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

async function givenApp(fields: GivenApp = {}) {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant, fields);
  const { service: deps, deploymentDeps } = service().service.parts;
  const caller = { orgId: tenant.org_id, userId: tenant.user_id } as Caller;
  const find = (number: number) => em().findOneOrFail(Deployment, { appId: app.id, number });
  return {
    app,
    cancel: (number: number, { id = app.id, cancelWaitMs = 0 } = {}) =>
      cancelDeployment({ ...deps, cancelWaitMs }, caller, { id, number }),
    redeploy: () => redeployApp(deps, caller, { id: app.id }, null),
    find,
    claim: async (number: number) => (await claimDeployment(deploymentDeps.em, (await find(number)).id))!,
    update: (number: number, changes: Partial<Deployment>) =>
      em().nativeUpdate(Deployment, { appId: app.id, number }, changes),
    record: () => em().findOneOrFail(App, { id: app.id }),
    jobs: async (number: number) => {
      const { id } = await find(number);
      return (await deploymentDeps.jobs.listWaiting("deployment")).filter((job) => job.deploymentId === id).length;
    },
  };
}

test("a deployment that waits is canceled at once, and the app shows it", async () => {
  const { cancel, find, record } = await givenApp({ status: "queued" });
  const canceled = await cancel(1);
  expect(canceled).toMatchObject({ status: "canceled", status_message: expect.any(String), error: null });
  expect(canceled.finished_at).not.toBeNull();
  expect((await find(1)).cancelRequestedAt).not.toBeNull();
  expect(await record()).toMatchObject({ status: "canceled", statusMessage: canceled.status_message });
});

test("a deployment that has ended, or whose app is being deleted, cannot be canceled", async () => {
  for (const status of ["ready", "failed", "canceled", "superseded"] as const) {
    const { cancel, update, find } = await givenApp();
    await update(1, { status });
    await expect(cancel(1)).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(status) });
    expect((await find(1)).cancelRequestedAt).toBeNull();
  }
  const { app, cancel, find } = await givenApp({ status: "queued" });
  await em().nativeUpdate(App, { id: app.id }, { status: "deleting" });
  await expect(cancel(1)).rejects.toMatchObject({ code: "conflict" });
  expect((await find(1)).status).toBe("queued");
});

test("the deployment of another organization, and an unknown one, are not found", async () => {
  const [{ cancel }, foreign] = [await givenApp({ status: "queued" }), await givenApp({ status: "queued" })];
  for (const id of [foreign.app.id, randomUUID()])
    await expect(cancel(1, { id })).rejects.toMatchObject({ code: "not_found" });
  await expect(cancel(2)).rejects.toMatchObject({ code: "not_found" });
  expect((await foreign.find(1)).status).toBe("queued");
});

test("a running deployment gets a request to end and one more job, and the app shows it", async () => {
  const { app, cancel, claim, find, record, jobs } = await givenApp({ status: "queued" });
  await claim(1);
  await em().nativeUpdate(App, { id: app.id }, { updatedAt: new Date(0) });
  for (let call = 0; call < 2; call++)
    expect(await cancel(1)).toMatchObject({ status: "queued", status_message: "Canceling.", finished_at: null });
  expect((await find(1)).cancelRequestedAt).not.toBeNull();
  expect(await jobs(1)).toBe(1);
  const { status, statusMessage, updatedAt } = await record();
  expect([status, statusMessage, updatedAt.getTime() > 0]).toEqual(["queued", "Canceling.", true]);
});

test("the app does not show the cancellation of a deployment that is not its newest one", async () => {
  const { cancel, claim, redeploy, record } = await givenApp({ status: "queued" });
  await claim(1);
  const { id } = await redeploy();
  await cancel(1);
  expect(await record()).toMatchObject({ latestDeploymentId: id, status: "queued", statusMessage: null });
});

test("a deployment that waits and is not the newest one is canceled without a change of the app", async () => {
  const { cancel, update, redeploy, record } = await givenApp({ status: "queued" });
  await update(1, { startedAt: new Date() });
  const { id } = await redeploy();
  await update(1, { startedAt: null });
  expect(await cancel(1)).toMatchObject({ status: "canceled" });
  expect(await record()).toMatchObject({ latestDeploymentId: id, status: "queued" });
});

test("after a cancellation the app shows the newest of the earlier deployments that are in progress", async () => {
  const { cancel, update, redeploy, find, record } = await givenApp({ status: "queued" });
  for (const number of [1, 2, 3, 4]) {
    await update(number, { status: "building", startedAt: new Date(), statusMessage: `Building ${number}.` });
    await redeploy();
  }
  await update(4, { status: "failed" });
  await cancel(5);
  const third = await find(3);
  const shown = { latestDeploymentId: third.id, status: "building", statusMessage: "Building 3." };
  expect(await record()).toMatchObject(shown);
});

test("a call waits until the worker has ended the deployment", async () => {
  const { cancel, claim, find } = await givenApp({ status: "queued" });
  const claimed = await claim(1);
  const canceled = cancel(1, { cancelWaitMs: 5000 });
  await expect.poll(async () => (await find(1)).cancelRequestedAt).not.toBeNull();
  await endCanceledDeployment(service().service.parts.deploymentDeps, claimed);
  expect(await canceled).toMatchObject({ status: "canceled" });
});

test("a deployment that becomes ready before its worker notices the request is not canceled", async () => {
  const { cancel, claim, find, update } = await givenApp({ status: "queued" });
  const claimed = await claim(1);
  const canceled = cancel(1, { cancelWaitMs: 5000 }).catch((error: unknown) => error);
  await expect.poll(async () => (await find(1)).cancelRequestedAt).not.toBeNull();
  await update(1, { status: "provisioning" });
  const result = { procedures: [], statusMessage: null, artifactKey: null, framework: null };
  await finishDeployment(service().service.parts.deploymentDeps, claimed, result);
  expect(await canceled).toMatchObject({ code: "conflict", message: expect.stringContaining("ready") });
});
