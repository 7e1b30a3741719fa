import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { LOG_BUCKET } from "../../../domain/apps/app-resources.ts";
import {
  type ClaimedDeployment,
  claimDeployment,
  DeploymentIsLeased,
} from "../../../domain/deployments/claim-deployment.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { failDeployment, finishDeployment, requeueDeployment } from "../../../domain/deployments/finish-deployment.ts";
import { DeploymentLease, LeaseLost } from "../../../domain/deployments/lease.ts";
import { runDeployment } from "../../../domain/deployments/run-deployment.ts";
import { transitionDeployment } from "../../../domain/deployments/transition-deployment.ts";
import { ALL_RESOURCES, failing, provision, resourcesOf } from "../../support/edge/platform-resources.ts";
import { givenSecondDeployment } from "../../support/service/given-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { hazard, verifies } from "../../support/verifies.ts";
import { waitFor } from "../../support/time-limits.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;
const NOTHING_FOUND = { procedures: [], statusMessage: null, artifactKey: null, framework: null };
const execute = (statement: string, values: unknown[] = []) =>
  deps().em.fork().getConnection().execute(statement, values);

async function givenQueuedDeployment(): Promise<{ appId: string; deploymentId: string }> {
  const { rest } = await service().tenant();
  const { body } = await rest.deploy({ repo: "acme/site" });
  const [deployment] = (await execute("select id from deployments where app_id = ?", [body["app_id"]])) as {
    id: string;
  }[];
  return { appId: String(body["app_id"]), deploymentId: deployment?.id ?? "" };
}

async function claim(deploymentId: string): Promise<ClaimedDeployment> {
  const claimed = await claimDeployment(deps().em, deploymentId);
  if (claimed === null) throw new Error("the deployment could not be claimed");
  return claimed;
}

type Status = Parameters<typeof transitionDeployment>[2];

const transition = (deployment: ClaimedDeployment, ...statuses: Status[]) =>
  deps()
    .em.fork()
    .transactional(async (tx) => {
      for (const status of statuses) await transitionDeployment(tx, deployment, status);
    });

/** Makes a lease look like that of a worker that was paused for a minute. */
const expireLease = (deploymentId: string) =>
  execute("update deployments set lease_renewed_at = now() - interval '1 minute' where id = ?", [deploymentId]);

/** What `claimDeployment` writes for another worker, in one statement, while this worker renews its lease. */
const takeOver = (deploymentId: string) =>
  execute(
    `with app as (update apps set fencing_token = fencing_token + 1
       where id = (select app_id from deployments where id = ?) returning fencing_token)
     update deployments set fencing_token = app.fencing_token, lease_renewed_at = now() from app where deployments.id = ?`,
    [deploymentId, deploymentId],
  );

/** The statuses of the app and of its deployments, in the order of their numbers. */
async function statusesOf(appId: string): Promise<string[]> {
  const rows = (await execute(
    "select status, 0 as number from apps where id = ? union all select status, number from deployments where app_id = ? order by number",
    [appId, appId],
  )) as { status: string }[];
  return rows.map(({ status }) => status);
}

verifies(hazard(44), "only one of two workers that claim the same deployment gets it", async () => {
  const { deploymentId } = await givenQueuedDeployment();
  const claims = await Promise.allSettled([
    claimDeployment(deps().em, deploymentId),
    claimDeployment(deps().em, deploymentId),
  ]);
  expect(claims.filter((result) => result.status === "fulfilled")).toHaveLength(1);
  expect(claims.find((result) => result.status === "rejected")?.reason).toBeInstanceOf(DeploymentIsLeased);
});

verifies(hazard(44), "a worker that wakes up after its lease expired cannot write anything", async () => {
  const { appId, deploymentId } = await givenQueuedDeployment();
  const late = await claim(deploymentId);
  await transition(late, "cloning");
  await expireLease(deploymentId);
  const next = await claim(deploymentId);
  await transition(next, "cloning");
  await expect(transition(late, "building")).rejects.toBeInstanceOf(LeaseLost);
  await expect(failDeployment(deps(), late, { error: "late", statusMessage: "late" })).rejects.toBeInstanceOf(
    LeaseLost,
  );
  await expect(requeueDeployment(deps(), late)).rejects.toBeInstanceOf(LeaseLost);
  expect(await statusesOf(appId)).toEqual(["cloning", "cloning"]);
  await transition(next, "building", "provisioning");
  await expect(finishDeployment(deps(), late, NOTHING_FOUND)).rejects.toBeInstanceOf(LeaseLost);
  await finishDeployment(deps(), next, NOTHING_FOUND);
  expect(await statusesOf(appId)).toEqual(["ready", "ready"]);
});

verifies(hazard(44), "a worker notices that it lost its lease, and stops", async () => {
  const { deploymentId } = await givenQueuedDeployment();
  const claimed = await claim(deploymentId);
  await using lease = new DeploymentLease(deps().em, claimed);
  await execute("update apps set fencing_token = fencing_token + 1 where id = ?", [claimed.appId]);
  await new Promise((resolve) => lease.signal.addEventListener("abort", resolve, { once: true }));
  expect(lease.signal.reason).toBeInstanceOf(LeaseLost);
});

verifies(hazard(44), "a worker whose lease expired does not end the lease of the worker that followed", async () => {
  const { deploymentId } = await givenQueuedDeployment();
  const expired = new DeploymentLease(deps().em, await claim(deploymentId));
  await takeOver(deploymentId);
  await expired[Symbol.asyncDispose]();
  await expect(claimDeployment(deps().em, deploymentId)).rejects.toBeInstanceOf(DeploymentIsLeased);
});

verifies(hazard(44), "a worker that lost its lease does not replace the log of the worker that followed", async () => {
  const { deploymentId } = await givenQueuedDeployment();
  const { objects } = deps();
  const { logKey } = await deps().em.fork().findOneOrFail(Deployment, { id: deploymentId });
  const readLog = async () => new TextDecoder().decode((await objects.get(LOG_BUCKET, logKey)) ?? new Uint8Array());
  const checkOut = async () => {
    await waitFor(async () => expect(await readLog()).toContain("cloning"));
    await takeOver(deploymentId);
    await objects.put(LOG_BUCKET, logKey, new TextEncoder().encode("of the next worker\n"));
    return { commit: "0".repeat(40) };
  };
  await runDeployment({ ...deps(), git: { checkOut } }, deploymentId, new AbortController().signal);
  expect(await readLog()).toBe("of the next worker\n");
});

verifies(hazard(45), "a deployment of an app that is being deleted cannot continue or be claimed again", async () => {
  const { appId, deploymentId } = await givenQueuedDeployment();
  const claimed = await claim(deploymentId);
  await execute("update apps set status = 'deleting', fencing_token = fencing_token + 1 where id = ?", [appId]);
  await expect(transition(claimed, "cloning")).rejects.toBeInstanceOf(LeaseLost);
  await expect(finishDeployment(deps(), claimed, NOTHING_FOUND)).rejects.toBeInstanceOf(LeaseLost);
  await expireLease(deploymentId);
  expect(await claimDeployment(deps().em, deploymentId)).toBeNull();
});

verifies(
  [hazard(41), hazard(43)],
  "a deployment that is ready keeps its resources when its worker did not learn of that and tries to fail it",
  async () => {
    const { appId, deploymentId } = await givenQueuedDeployment();
    const claimed = await claim(deploymentId);
    await transition(claimed, "cloning", "building", "provisioning");
    await deps().authEntries.put({ appId, tokenSha256: "0".repeat(64) });
    await finishDeployment(deps(), claimed, NOTHING_FOUND);
    await expect(failDeployment(deps(), claimed, { error: "x", statusMessage: "x" })).rejects.toBeInstanceOf(LeaseLost);
    expect(await statusesOf(appId)).toEqual(["ready", "ready"]);
    expect(await deps().authEntries.get(appId)).not.toBeNull();
  },
);

verifies(hazard(41), "a deployment whose workspace cannot be opened can be claimed again at once", async () => {
  const { deploymentId } = await givenQueuedDeployment();
  const full = { ...deps(), workspaces: failing(deps().workspaces, "open", 1) };
  await expect(runDeployment(full, deploymentId, new AbortController().signal)).rejects.toThrow("500");
  expect((await claim(deploymentId)).attempt).toBe(2);
});

verifies(hazard(41), "a deployment that goes back to the queue starts again with its first attempt", async () => {
  const { appId, deploymentId } = await givenQueuedDeployment();
  const first = await claim(deploymentId);
  await transition(first, "cloning");
  await requeueDeployment(deps(), first);
  expect(await statusesOf(appId)).toEqual(["queued", "queued"]);
  expect((await claim(deploymentId)).attempt).toBe(1);
});

test("a second deployment that becomes ready replaces the live one, which is superseded", async () => {
  const app = await service().givenApp(await service().tenant());
  const second = await givenSecondDeployment(deps().em.fork(), app, "provisioning");
  expect(await statusesOf(app.id)).toEqual(["provisioning", "ready", "provisioning"]);
  await finishDeployment(deps(), second, NOTHING_FOUND);
  expect(await statusesOf(app.id)).toEqual(["ready", "superseded", "ready"]);
  const [row] = (await execute("select live_deployment_id from apps where id = ?", [app.id])) as object[];
  expect(row).toEqual({ live_deployment_id: second.deploymentId });
});

test("the manifest has the framework of the live deployment", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const manifestWith = async (framework: string | null, number: number) => {
    const current = await deps().em.fork().findOneOrFail(App, { id: app.id });
    const claimed = await givenSecondDeployment(deps().em.fork(), current, "provisioning", number);
    await execute(
      `update apps set manifest = coalesce(manifest, '{}')::jsonb || '{"sql_database_id": "d"}' where id = ?`,
      [app.id],
    );
    await finishDeployment(deps(), claimed, { ...NOTHING_FOUND, framework });
    return (await tenant.rest.get(`/v1/apps/${app.id}`)).body["manifest"];
  };
  expect(await manifestWith("hono", 2)).toEqual({ sql_database_id: "d", framework: "hono" });
  expect(await manifestWith(null, 3)).toEqual({ sql_database_id: "d" });
});

verifies(hazard(52), "a second deployment that fails leaves the live one and its resources untouched", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  await provision(deps(), app);
  const second = await givenSecondDeployment(deps().em.fork(), app, "provisioning");
  await failDeployment(deps(), second, { error: "It does not respond.", statusMessage: "Correct it." });
  expect(await statusesOf(app.id)).toEqual(["failed", "ready", "failed"]);
  expect(await resourcesOf(deps(), app)).toEqual(ALL_RESOURCES);
  const { body } = await tenant.rest.get(`/v1/apps/${app.id}`);
  expect(body).toMatchObject({ status: "failed", error: "It does not respond.", status_message: "Correct it." });
});
