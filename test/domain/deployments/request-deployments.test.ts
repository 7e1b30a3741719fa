import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { getDeployment, listDeployments } from "../../../domain/deployments/list-deployments.ts";
import { redeployApp } from "../../../domain/deployments/redeploy-app.ts";
import { rollBackApp } from "../../../domain/deployments/roll-back-app.ts";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import type { AppBuilder } from "../../../domain/ports/app-builder-agent.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { readActivity } from "../../../domain/usage/get-usage.ts";
import type { GivenApp } from "../../support/service/given-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { hazard, verifies } from "../../support/verifies.ts";

// No worker runs, so a deployment stays as it was recorded.
const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const appBuilder = {} as AppBuilder;

async function givenApp(fields: GivenApp = {}) {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant, fields);
  const deps = { ...service().service.parts.service, appBuilder };
  const caller = { orgId: tenant.org_id, userId: tenant.user_id } as Caller;
  return {
    app,
    tenant,
    deps,
    caller,
    redeploy: (request: Partial<Parameters<typeof redeployApp>[2]> = {}, key: string | null = null) =>
      redeployApp(deps, caller, { id: app.id, ...request }, key),
    rollBack: (number: number, key: string | null = null) => rollBackApp(deps, caller, { id: app.id, number }, key),
    get: (number: number) => getDeployment(deps, caller, { id: app.id, number }),
    list: (page: { limit?: number; cursor?: string } = {}) => listDeployments(deps, caller, { id: app.id, ...page }),
    update: (number: number, fields: Partial<Deployment>) =>
      em().nativeUpdate(Deployment, { appId: app.id, number }, fields),
    record: () => em().findOneOrFail(App, { id: app.id }),
  };
}

const jobsOf = async (queue: "deployment" | "rollback", id: string) =>
  (await service().service.parts.deploymentDeps.jobs.listWaiting(queue)).filter((job) => job.deploymentId === id);

test("a redeploy records and queues a deployment of the app's own source, and the app shows it", async () => {
  const { app, tenant, caller, redeploy, get, record } = await givenApp({ statusMessage: "Old.", error: "old" });
  const settings = { rootDirectory: "web", buildNetwork: true, requestedRuntime: "node" } as const;
  await em().nativeUpdate(App, { id: app.id }, { branch: "next", ...settings });
  const deployment = await redeploy();
  expect(deployment).toEqual({
    id: expect.any(String),
    app_id: app.id,
    number: 2,
    status: "queued",
    status_message: null,
    error: null,
    trigger: "redeploy",
    repo: app.repo,
    host: null,
    branch: "next",
    archive: null,
    commit: null,
    customization: null,
    root_directory: "web",
    build_network: true,
    runtime: null,
    rollback_to: null,
    promoted_from: null,
    is_live: false,
    can_roll_back: false,
    created_by: tenant.user_id,
    created_at: expect.stringMatching(/Z$/),
    started_at: null,
    finished_at: null,
  });
  expect(await get(2)).toEqual({ ...deployment, steps: [] });
  expect(await em().findOneOrFail(Deployment, { id: deployment.id })).toMatchObject(settings);
  const shown = { latestDeploymentId: deployment.id, status: "queued", statusMessage: null, error: null };
  expect(await record()).toMatchObject({ ...shown, liveDeploymentId: app.liveDeploymentId, branch: "next" });
  expect(await jobsOf("deployment", deployment.id)).toEqual([{ deploymentId: deployment.id, orgId: caller.orgId }]);
  const { db } = service().service.parts;
  expect((await readActivity(db, caller.orgId)).deployments).toBe(1);
});

test("a redeploy can choose the branch, the commit and the customization, and the app keeps its branch", async () => {
  const { redeploy, record } = await givenApp();
  const commit = "0123456789abcdef0123456789abcdef01234567";
  expect(await redeploy({ branch: "other", commit, customization: "Blue" })).toMatchObject({
    branch: "other",
    commit,
    customization: "Blue",
  });
  expect((await record()).branch).toBe("main");
  await expect(redeploy({ branch: "a b" })).rejects.toMatchObject({ code: "invalid" });
  await expect(redeploy({ customization: "a\0" })).rejects.toMatchObject({ code: "invalid" });
});

test("a redeploy keeps the customization of the newest deployment, unless it names another one or none", async () => {
  const { redeploy, update } = await givenApp();
  await update(1, { customization: "Blue" });
  expect((await redeploy()).customization).toBe("Blue");
  expect((await redeploy({ customization: "Red" })).customization).toBe("Red");
  expect((await redeploy()).customization).toBe("Red");
  expect((await redeploy({ customization: null })).customization).toBeNull();
  expect((await redeploy()).customization).toBeNull();
});

test("the default branch is deployed when neither the first deployment nor this one names a branch", async () => {
  const isDefault = async (firstIsDefault: boolean, branch?: string) => {
    const { redeploy, update } = await givenApp();
    await update(1, { branchIsDefault: firstIsDefault });
    const { id } = await redeploy(branch === undefined ? {} : { branch });
    return (await em().findOneOrFail(Deployment, { id })).branchIsDefault;
  };
  expect([await isDefault(true), await isDefault(false), await isDefault(true, "main")]).toEqual([true, false, false]);
});

verifies(hazard(53), "a further deployment replaces those that wait, and not one that has started", async () => {
  const { redeploy, get, update } = await givenApp();
  await redeploy();
  await update(2, { startedAt: new Date() });
  await redeploy();
  expect(await redeploy()).toMatchObject({ number: 4 });
  expect(await get(2)).toMatchObject({ status: "queued", finished_at: null });
  expect(await get(3)).toMatchObject({
    status: "superseded",
    status_message: expect.stringContaining("Deployment 4"),
    finished_at: expect.any(String),
    can_roll_back: false,
  });
  expect(await get(1)).toMatchObject({ status: "ready" });
});

test("a request with the key of an earlier one returns its deployment, and a different request is rejected", async () => {
  const { redeploy, rollBack, list } = await givenApp();
  const key = randomUUID();
  const first = await redeploy({}, key);
  expect((await redeploy({}, key)).id).toBe(first.id);
  await expect(redeploy({ branch: "other" }, key)).rejects.toMatchObject({ code: "key_reused" });
  await expect(rollBack(1, key)).rejects.toMatchObject({ code: "key_reused" });
  expect((await redeploy({}, randomUUID())).number).toBe(3);
  expect((await list()).deployments).toHaveLength(3);
});

test("an app that does not count in a full plan cannot be deployed, and one that counts can", async () => {
  const { app, deps, caller } = await givenApp({ status: "failed" });
  const plans = new Plans({ tiny: { ...DEFAULT_LIMITS, apps: 1 } }, "tiny");
  const redeploy = (id: string) => redeployApp({ ...deps, plans }, caller, { id }, null);
  const counted = await service().givenApp({ org_id: caller.orgId, user_id: caller.userId! });
  await expect(redeploy(app.id)).rejects.toMatchObject({ code: "plan_limit" });
  expect(await redeploy(counted.id)).toMatchObject({ number: 2 });
});

test("an app that is being deleted, or of another organization, cannot be deployed", async () => {
  const [deleting, foreign] = [await givenApp({ status: "deleting" }), await givenApp()];
  await expect(deleting.redeploy()).rejects.toMatchObject({ code: "conflict" });
  await expect(deleting.redeploy({ id: foreign.app.id })).rejects.toMatchObject({ code: "not_found" });
  expect((await foreign.list()).deployments).toHaveLength(1);
});

test("a rollback makes a superseded deployment live again, with its source", async () => {
  const { caller, redeploy, rollBack, update, get } = await givenApp();
  const [commit, customization] = ["0123456789abcdef0123456789abcdef01234567", "Blue"];
  const kept = {
    status: "superseded",
    artifactKey: "1/script.form",
    commit,
    customization,
    buildNetwork: true,
    requestedRuntime: "worker",
  } as const;
  await update(1, { ...kept, branch: "old", rootDirectory: "web", branchIsDefault: true });
  await redeploy({ branch: "new" });
  expect(await get(1)).toMatchObject({ can_roll_back: true, is_live: true });
  await em().nativeUpdate(App, { id: (await get(1)).app_id }, { liveDeploymentId: (await get(2)).id });
  const rollback = await rollBack(1);
  expect(rollback).toMatchObject({
    number: 3,
    trigger: "rollback",
    branch: "old",
    commit,
    customization,
    root_directory: "web",
    build_network: true,
    rollback_to: 1,
  });
  const { branchIsDefault, rollbackToId, requestedRuntime } = await em().findOneOrFail(Deployment, { id: rollback.id });
  expect([branchIsDefault, rollbackToId, requestedRuntime]).toEqual([false, (await get(1)).id, "worker"]);
  expect(await jobsOf("rollback", rollback.id)).toEqual([{ deploymentId: rollback.id, orgId: caller.orgId }]);
  expect(await jobsOf("deployment", rollback.id)).toEqual([]);
});

test("a rollback to the live deployment, an unknown one, or one without a kept bundle is rejected", async () => {
  const { redeploy, rollBack, update, get } = await givenApp();
  await expect(rollBack(1)).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("live already"),
  });
  await expect(rollBack(9)).rejects.toMatchObject({ code: "not_found" });
  for (let n = 2; n <= 5; n++) await redeploy();
  const refused = (text: string) => ({ code: "conflict", message: expect.stringContaining(text) });
  await update(2, { status: "failed", artifactKey: "2" });
  await expect(rollBack(2)).rejects.toMatchObject(refused("No earlier deployment has one."));
  expect((await get(2)).can_roll_back).toBe(false);
  await update(3, { status: "superseded", artifactKey: "3" });
  await update(4, { status: "superseded", artifactKey: "4" });
  await update(5, { status: "superseded", artifactKey: null });
  for (const number of [2, 5]) await expect(rollBack(number)).rejects.toMatchObject(refused("Those of 4, 3 are kept."));
});

test("deployments are listed newest first, in pages of 20 by default", async () => {
  const { redeploy, list, get } = await givenApp();
  for (let n = 2; n <= 21; n++) await redeploy();
  const numbersIn = ({ deployments }: { deployments: { number: number }[] }) => deployments.map(({ number }) => number);
  const first = await list();
  expect(numbersIn(first)).toEqual(Array.from({ length: 20 }, (_, n) => 21 - n));
  const second = await list({ cursor: first.next_cursor! });
  const { steps: _, ...oldest } = await get(1);
  expect(second).toEqual({ deployments: [oldest], next_cursor: null });
  expect(await list({ limit: 21 })).toMatchObject({ next_cursor: null });
  await expect(list({ cursor: "x" })).rejects.toMatchObject({ code: "invalid" });
});

test("the deployments of another organization's app and of an unknown app are not found", async () => {
  const [{ deps, caller, app }, foreign] = [await givenApp(), await givenApp()];
  for (const id of [foreign.app.id, randomUUID()]) {
    await expect(listDeployments(deps, caller, { id })).rejects.toMatchObject({ code: "not_found" });
    await expect(getDeployment(deps, caller, { id, number: 1 })).rejects.toMatchObject({ code: "not_found" });
  }
  await expect(getDeployment(deps, caller, { id: app.id, number: 2 })).rejects.toMatchObject({ code: "not_found" });
});

test("a deployment shows the commit that was requested until another one is cloned, and its times in UTC", async () => {
  const { update, get } = await givenApp();
  const [requestedCommit, commit] = ["1".repeat(40), "2".repeat(40)];
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  await update(1, { requestedCommit, startedAt: at(1), finishedAt: at(2) });
  expect(await get(1)).toMatchObject({
    commit: requestedCommit,
    started_at: "2026-01-01T00:00:01.000Z",
    finished_at: "2026-01-01T00:00:02.000Z",
  });
  await update(1, { commit });
  expect(await get(1)).toMatchObject({ commit });
});
