import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import {
  type ClaimedDeployment,
  claimDeployment,
  DeploymentIsLeased,
} from "../../../domain/deployments/claim-deployment.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import {
  endCanceledDeployment,
  failDeployment,
  finishDeployment,
  requeueDeployment,
} from "../../../domain/deployments/finish-deployment.ts";
import { DeploymentCanceled, DeploymentLease, LeaseLost } from "../../../domain/deployments/lease.ts";
import { sweep } from "../../../domain/deployments/sweep.ts";
import type { QueueName } from "../../../domain/ports/job-queue.ts";
import { listProcedures } from "../../../domain/procedures/list-procedures.ts";
import { discoveredProcedure } from "../../support/edge/live-app.ts";
import { claimedDeployment, type GivenApp, givenSecondDeployment } from "../../support/service/given-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

// No worker runs, so a test itself claims deployments.
const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;
const em = () => deps().em.fork();
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);
const RESULT = { procedures: [], statusMessage: null, artifactKey: "key", framework: null };

async function givenApp(fields: GivenApp = {}) {
  const app = await service().givenApp(await service().tenant(), fields);
  const find = (number: number) => em().findOneOrFail(Deployment, { appId: app.id, number });
  return {
    app,
    find,
    record: () => em().findOneOrFail(App, { id: app.id }),
    change: (changes: Partial<App>) => em().nativeUpdate(App, { id: app.id }, changes),
    update: (number: number, changes: Partial<Deployment>) =>
      em().nativeUpdate(Deployment, { appId: app.id, number }, changes),
    claim: async (number = 1) => claimDeployment(deps().em, (await find(number)).id),
    second: (number = 2) => givenSecondDeployment(em(), app, "queued", number),
    jobs: async (queue: Exclude<QueueName, "sweep" | "teardown">) =>
      (await deps().jobs.listWaiting(queue)).filter((job) => job.orgId === app.orgId),
  };
}

test("a leased deployment can be claimed ten seconds after the last renewal, and not before", async () => {
  const { update, claim } = await givenApp({ status: "building" });
  await update(1, { leaseRenewedAt: secondsAgo(8) });
  await expect(claim()).rejects.toBeInstanceOf(DeploymentIsLeased);
  await update(1, { leaseRenewedAt: secondsAgo(11) });
  expect(await claim()).toMatchObject({ attempt: 1 });
});

test("a deployment waits for the earlier ones of its app, until these have ended", async () => {
  const { second, update, claim } = await givenApp({ status: "queued" });
  await second();
  expect(await claim(2)).toBeNull();
  await update(1, { status: "failed" });
  expect(await claim(2)).toMatchObject({ number: 2 });
});

test("an app that is being deleted has nothing to claim, and a claim says whether the owner wants it to end", async () => {
  const { change, update, claim } = await givenApp({ status: "queued" });
  await change({ status: "deleting" });
  expect(await claim()).toBeNull();
  await change({ status: "queued" });
  expect(await claim()).toMatchObject({ isCanceled: false });
  await update(1, { cancelRequestedAt: new Date(), leaseRenewedAt: null });
  expect(await claim()).toMatchObject({ isCanceled: true });
});

test("a worker is told that the owner has canceled the deployment, and keeps its lease until it has ended", async () => {
  const { claim, update, find } = await givenApp({ status: "queued" });
  await using lease = new DeploymentLease(deps().em, (await claim())!);
  await update(1, { cancelRequestedAt: new Date() });
  await expect.poll(() => lease.signal.aborted).toBe(true);
  expect(lease.signal.reason).toBeInstanceOf(DeploymentCanceled);
  expect((await find(1)).leaseRenewedAt).not.toBeNull();
});

test("a worker that lost its lease is told, and the renewal of a finished deployment renews nothing", async () => {
  const { claim, change, update, find } = await givenApp({ status: "queued" });
  const claimed = (await claim())!;
  await using lease = new DeploymentLease(deps().em, claimed);
  await update(1, { status: "failed", leaseRenewedAt: null });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect([lease.signal.aborted, (await find(1)).leaseRenewedAt]).toEqual([false, null]);
  await change({ fencingToken: claimed.fencingToken + 1 });
  await expect.poll(() => lease.signal.aborted).toBe(true);
  expect(lease.signal.reason).toBeInstanceOf(LeaseLost);
});

/** A claim of the second deployment of an app, which is about to be live. */
async function givenProvisioning({ second, update, claim }: Awaited<ReturnType<typeof givenApp>>) {
  await second();
  const claimed: ClaimedDeployment = (await claim(2))!;
  await update(2, { status: "provisioning" });
  return claimed;
}

test("a deployment that is ready replaces the live one, and the next one that waits is queued", async () => {
  const given = await givenApp();
  const { app, find, record, second, change, jobs } = given;
  const claimed = await givenProvisioning(given);
  await change({ manifest: { sql_database_id: "a", object_bucket_name: "b", framework: "Old" } });
  const waiting = await second(3);
  await change({ fencingToken: claimed.fencingToken });
  const result = { ...RESULT, procedures: [discoveredProcedure("get")], statusMessage: "Note.", framework: "New" };
  await finishDeployment(deps(), claimed, result);
  expect(await find(1)).toMatchObject({ status: "superseded" });
  expect(await find(2)).toMatchObject({ status: "ready", statusMessage: "Note.", artifactKey: "key", error: null });
  const { liveDeploymentId, manifest } = await record();
  expect(liveDeploymentId).toBe(claimed.deploymentId);
  expect(manifest).toEqual({ sql_database_id: "a", object_bucket_name: "b", framework: "New" });
  expect(await jobs("deployment")).toEqual([{ deploymentId: waiting.deploymentId, orgId: app.orgId }]);
  const { value } = await listProcedures(service().service.parts.db, app.orgId);
  expect(value.map(({ name }) => name)).toEqual(["get"]);
});

test("a deployment without a framework has none in the manifest, and a first one replaces nothing", async () => {
  const { app, record, change, update } = await givenApp({ status: "provisioning" });
  await change({ manifest: { sql_database_id: "a", object_bucket_name: "b", framework: "Old" } });
  const other = await givenApp();
  await update(1, { status: "provisioning" });
  await finishDeployment(deps(), claimedDeployment(app), RESULT);
  expect(await record()).toMatchObject({ status: "ready", liveDeploymentId: app.latestDeploymentId });
  expect((await record()).manifest).toEqual({ sql_database_id: "a", object_bucket_name: "b" });
  expect((await other.find(1)).status).toBe("ready");
});

test.each<[string, number, Partial<App>]>([
  ["variables that were not tried", 1, { variablesVersion: 2, variablesTriedVersion: 1 }],
  ["a problem with the variables", 1, { variablesVersion: 2, variablesTriedVersion: 2, variablesProblem: "No." }],
  ["the newest variables", 0, { variablesVersion: 2, variablesTriedVersion: 2 }],
])("an app that becomes ready with %s gets %i job to apply them", async (_state, count, changes) => {
  const { app, change, jobs } = await givenApp({ status: "provisioning" });
  await change(changes);
  await finishDeployment(deps(), claimedDeployment(app), RESULT);
  expect(await jobs("variables")).toEqual(Array.from({ length: count }, () => ({ appId: app.id, orgId: app.orgId })));
});

test("a failed or canceled deployment of a live app keeps the manifest, and that of an app that was never live does not", async () => {
  const manifest = { sql_database_id: "a", object_bucket_name: "b" };
  for (const status of ["failed", "canceled"] as const) {
    const end = (claimed: ClaimedDeployment) =>
      status === "failed"
        ? failDeployment(deps(), claimed, { error: "No.", statusMessage: "Change it." })
        : endCanceledDeployment(deps(), claimed);
    const [live, neverLive] = [await givenApp(), await givenApp({ status: "provisioning" })];
    await live.change({ manifest });
    await neverLive.change({ manifest });
    await end(await givenProvisioning(live));
    await end(claimedDeployment(neverLive.app));
    expect(await live.record()).toMatchObject({ status, manifest, liveDeploymentId: live.app.liveDeploymentId });
    expect(await neverLive.record()).toMatchObject({ status, manifest: null });
    expect((await live.find(1)).status).toBe("ready");
    expect(await neverLive.find(1)).toMatchObject({ status, error: status === "failed" ? "No." : null });
  }
});

test("a deployment that is ready after all, or of another worker, cannot fail", async () => {
  const { app, record } = await givenApp();
  const shown = { error: "No.", statusMessage: "Change it." };
  await expect(failDeployment(deps(), claimedDeployment(app), shown)).rejects.toBeInstanceOf(LeaseLost);
  const other = await givenApp({ status: "building" });
  const late = { ...claimedDeployment(other.app), fencingToken: other.app.fencingToken + 1 };
  await expect(failDeployment(deps(), late, shown)).rejects.toBeInstanceOf(LeaseLost);
  expect([(await record()).status, (await other.record()).status]).toEqual(["ready", "building"]);
});

test("a rollback goes back to the queue of rollbacks, and its attempt does not count", async () => {
  const { update, claim, find, jobs } = await givenApp({ status: "queued" });
  await update(1, { trigger: "rollback", attempts: 2 });
  const claimed = (await claim())!;
  await requeueDeployment(deps(), claimed);
  expect(await find(1)).toMatchObject({ status: "queued", attempts: 2, leaseRenewedAt: null });
  expect([await jobs("rollback"), await jobs("deployment")]).toEqual([
    [{ deploymentId: claimed.deploymentId, orgId: claimed.orgId }],
    [],
  ]);
});

test("a sweep queues the first deployment of each app that no job and no worker has", async () => {
  const { app, second, jobs } = await givenApp({ status: "queued" });
  await second();
  await second(3);
  const rollback = await givenApp({ status: "queued" });
  await rollback.update(1, { trigger: "rollback" });
  const before = await sweep(deps());
  expect(before.deployments).toBeGreaterThanOrEqual(2);
  expect(await jobs("deployment")).toEqual([{ deploymentId: app.latestDeploymentId, orgId: app.orgId }]);
  expect(await rollback.jobs("rollback")).toHaveLength(1);
  expect((await sweep(deps())).deployments).toBe(0);
  expect(await jobs("deployment")).toHaveLength(1);
});

test("a sweep queues the teardown of an app that has been deleting for a minute, once", async () => {
  const [recent, old] = [await givenApp({ status: "deleting" }), await givenApp({ status: "deleting" })];
  await recent.change({ updatedAt: secondsAgo(50) });
  await old.change({ updatedAt: secondsAgo(70) });
  expect([(await sweep(deps())).teardowns, (await sweep(deps())).teardowns]).toEqual([1, 0]);
  const ids = (await deps().jobs.listWaiting("teardown")).map(({ appId }) => appId);
  expect([ids.includes(old.app.id), ids.includes(recent.app.id)]).toEqual([true, false]);
});
