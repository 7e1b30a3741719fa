import { expect } from "vitest";
import {
  DeploymentIsLeased,
  claimDeployment,
  type ClaimedDeployment,
} from "../../../domain/deployments/claim-deployment.ts";
import { DeploymentLease, Superseded } from "../../../domain/deployments/lease.ts";
import { transitionApp } from "../../../domain/deployments/transition-deployment.ts";
import { runDeployment } from "../../../domain/deployments/run-deployment.ts";
import { failDeployment, finishDeployment, requeueDeployment } from "../../../domain/deployments/finish-deployment.ts";
import { failing } from "../../support/edge/platform-resources.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;
const NOTHING_FOUND = { procedures: [], statusMessage: null };
const execute = (statement: string, values: unknown[] = []) =>
  deps().em.fork().getConnection().execute(statement, values);

async function queuedBuild(): Promise<{ appId: string; buildId: string }> {
  const { rest } = await service().tenant();
  const { body } = await rest.deploy({ repo: "acme/site" });
  const [build] = (await execute("select id from builds where app_id = ?", [body["app_id"]])) as { id: string }[];
  return { appId: String(body["app_id"]), buildId: build?.id ?? "" };
}

async function claimed(buildId: string): Promise<ClaimedDeployment> {
  const held = await claimDeployment(deps().em, buildId);
  if (held === null) throw new Error("there was nothing to claim");
  return held;
}

/** Makes a hold look as old as that of a worker that was paused for a minute. */
const forget = (buildId: string) =>
  execute("update builds set held_at = now() - interval '1 minute' where id = ?", [buildId]);
const statusOf = async (appId: string) => (await execute("select status from apps where id = ?", [appId])) as unknown;

verifies(hazard(44), "one of two workers that claim the same build gets it", async () => {
  const { buildId } = await queuedBuild();
  const claims = await Promise.allSettled([claimDeployment(deps().em, buildId), claimDeployment(deps().em, buildId)]);
  expect(claims.filter((claim) => claim.status === "fulfilled")).toHaveLength(1);
  expect(claims.find((claim) => claim.status === "rejected")?.reason).toBeInstanceOf(DeploymentIsLeased);
});

verifies(hazard(44), "a worker that wakes up after its hold ran out can write nothing", async () => {
  const { appId, buildId } = await queuedBuild();
  const late = await claimed(buildId);
  await transitionApp(deps().em.fork(), late, "cloning");
  await forget(buildId);
  const next = await claimed(buildId);
  await transitionApp(deps().em.fork(), next, "cloning");
  await expect(transitionApp(deps().em.fork(), late, "building")).rejects.toBeInstanceOf(Superseded);
  await expect(failDeployment(deps(), late, { error: "late", statusMessage: "late" })).rejects.toBeInstanceOf(
    Superseded,
  );
  await expect(requeueDeployment(deps(), late)).rejects.toBeInstanceOf(Superseded);
  expect(await statusOf(appId)).toEqual([{ status: "cloning" }]);
  for (const to of ["building", "provisioning"] as const) await transitionApp(deps().em.fork(), next, to);
  await expect(finishDeployment(deps().em, late, NOTHING_FOUND)).rejects.toBeInstanceOf(Superseded);
  await finishDeployment(deps().em, next, NOTHING_FOUND);
  expect(await statusOf(appId)).toEqual([{ status: "ready" }]);
});

verifies(hazard(44), "a worker learns that it was taken over and stops", async () => {
  const { buildId } = await queuedBuild();
  const held = await claimed(buildId);
  await using hold = new DeploymentLease(deps().em, held);
  await execute("update apps set fence = fence + 1 where id = ?", [held.appId]);
  await new Promise((resolve) => hold.signal.addEventListener("abort", resolve, { once: true }));
  expect(hold.signal.reason).toBeInstanceOf(Superseded);
});

verifies(hazard(45), "a build of an app that is being deleted cannot go on, and is never claimed again", async () => {
  const { appId, buildId } = await queuedBuild();
  const held = await claimed(buildId);
  await execute("update apps set status = 'deleting', fence = fence + 1 where id = ?", [appId]);
  await expect(transitionApp(deps().em.fork(), held, "cloning")).rejects.toBeInstanceOf(Superseded);
  await expect(finishDeployment(deps().em, held, NOTHING_FOUND)).rejects.toBeInstanceOf(Superseded);
  await forget(buildId);
  expect(await claimDeployment(deps().em, buildId)).toBeNull();
});

verifies(
  [hazard(41), hazard(43)],
  "a build that is ready keeps its resources when its worker never learned of it and wants to fail it",
  async () => {
    const { appId, buildId } = await queuedBuild();
    const held = await claimed(buildId);
    for (const to of ["cloning", "building", "provisioning"] as const) await transitionApp(deps().em.fork(), held, to);
    await deps().authEntries.put({ appId, tokenSha256: "0".repeat(64) });
    await finishDeployment(deps().em, held, NOTHING_FOUND);
    await expect(failDeployment(deps(), held, { error: "x", statusMessage: "x" })).rejects.toBeInstanceOf(Superseded);
    expect(await statusOf(appId)).toEqual([{ status: "ready" }]);
    expect(await deps().authEntries.get(appId)).not.toBeNull();
  },
);

verifies(hazard(41), "a build whose workspace cannot be opened is free at once for the next attempt", async () => {
  const { buildId } = await queuedBuild();
  const full = { ...deps(), workspaces: failing(deps().workspaces, "open", 1) };
  await expect(runDeployment(full, buildId, new AbortController().signal)).rejects.toThrow("500");
  expect((await claimed(buildId)).attempt).toBe(2);
});

verifies(hazard(41), "a build that is handed back starts again as if it had not been tried", async () => {
  const { appId, buildId } = await queuedBuild();
  const first = await claimed(buildId);
  await transitionApp(deps().em.fork(), first, "cloning");
  await requeueDeployment(deps(), first);
  expect(await statusOf(appId)).toEqual([{ status: "queued" }]);
  expect((await claimed(buildId)).attempt).toBe(1);
});
