import { expect, test } from "vitest";
import { countAppsInPlan } from "../../../domain/apps/app-quota.ts";
import { syncAuthEntry } from "../../../domain/apps/sync-auth-entry.ts";
import { cancelDeployment } from "../../../domain/deployments/cancel-deployment.ts";
import { claimDeployment } from "../../../domain/deployments/claim-deployment.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { transitionDeployment } from "../../../domain/deployments/transition-deployment.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;

/** An app whose first deployment is building. */
async function givenBuildingApp() {
  const tenant = await service().tenant();
  const { body } = await tenant.rest.deploy({ repo: "acme/site" });
  const appId = String(body["app_id"]);
  const { id } = await deps().em.fork().findOneOrFail(Deployment, { appId });
  const claimed = await claimDeployment(deps().em, id);
  if (claimed === null) throw new Error("the deployment could not be claimed");
  await deps()
    .em.fork()
    .transactional(async (tx) => {
      await transitionDeployment(tx, claimed, "cloning");
      await transitionDeployment(tx, claimed, "building", { statusMessage: "Installing and building." });
    });
  return { tenant, appId, deploymentId: id, path: `/v1/apps/${appId}` };
}

test("after the cancellation of a waiting deployment, the app shows the one in progress, counts against the plan and gets its auth entry", async () => {
  const { tenant, appId, deploymentId, path } = await givenBuildingApp();
  expect((await tenant.rest.post(`${path}/deployments`, {})).body).toMatchObject({ number: 2, status: "queued" });
  const canceled = await tenant.rest.post(`${path}/deployments/2/cancel`, {});
  expect([canceled.status, canceled.body["status"]]).toEqual([200, "canceled"]);
  expect((await tenant.rest.get(path)).body).toMatchObject({
    status: "building",
    status_message: "Installing and building.",
    latest_deployment_id: deploymentId,
  });
  expect(await countAppsInPlan(deps().em.fork(), tenant.org_id)).toBe(1);
  expect(await syncAuthEntry(deps(), appId)).not.toBeNull();
});

test("repeated cancellations of a running deployment queue one job", async () => {
  const { tenant, appId, deploymentId } = await givenBuildingApp();
  const db = service().service.parts.db;
  const cancel = () =>
    cancelDeployment({ em: deps().em, db, jobs: deps().jobs, cancelWaitMs: 0 }, callerOf(tenant.org_id), {
      id: appId,
      number: 1,
    });
  const jobs = async () =>
    (await deps().jobs.listWaiting("deployment")).filter((job) => job.deploymentId === deploymentId).length;
  const before = await jobs();
  for (let call = 0; call < 3; call++)
    expect(await cancel()).toMatchObject({ status: "building", status_message: "Canceling." });
  expect(await jobs()).toBe(before + 1);
});

function callerOf(orgId: string): Caller {
  return { orgId } as Caller;
}

test("the deployments of an unknown app are not found, on every page", async () => {
  const { tenant, path } = await givenBuildingApp();
  const cursor = Buffer.from("5").toString("base64url");
  const other = await service().tenant();
  expect((await other.rest.get(`${path}/deployments?cursor=${cursor}`)).status).toBe(404);
  const end = await tenant.rest.get(`${path}/deployments?cursor=${Buffer.from("1").toString("base64url")}`);
  expect([end.status, end.body]).toEqual([200, { deployments: [], next_cursor: null }]);
});

test("a malformed number of a deployment gets the same response as an unknown number", async () => {
  const { tenant, path } = await givenBuildingApp();
  const read = async (number: string) => {
    const { status, body } = await tenant.rest.get(`${path}/deployments/${number}`);
    return [status, body["error"]];
  };
  const unknown = await read("9");
  for (const number of ["0", "x", "1.5", "9999999999"]) expect(await read(number)).toEqual(unknown);
});
