import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import { removeProcedures, replaceProcedures } from "../procedures/replace-procedures.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import { Deployment } from "./deployment.entity.ts";
import { statusesBefore } from "./deployment-status.ts";
import { LeaseLost } from "./lease.ts";
import { type AppPlatform, releaseResources } from "./release-resources.ts";
import { transitionDeployment } from "./transition-deployment.ts";

/**
 * Records that a deployment is live, and its procedures with it. The deployment that was live before is `superseded`.
 *
 * @param result.statusMessage - a problem that did not prevent the deployment, for the app's owner
 * @throws {LeaseLost} when the worker lost its lease just before
 */
export async function finishDeployment(
  em: EntityManager,
  deployment: ClaimedDeployment,
  { procedures, statusMessage }: { procedures: readonly DiscoveredProcedure[]; statusMessage: string | null },
): Promise<void> {
  await em.fork().transactional(async (tx) => {
    const app = await transitionDeployment(tx, deployment, "ready", { statusMessage, error: null });
    const replaced = { id: app.liveDeploymentId, status: { $in: statusesBefore("superseded") } };
    if (app.liveDeploymentId) await tx.nativeUpdate(Deployment, replaced, { status: "superseded" });
    app.liveDeploymentId = deployment.deploymentId;
    await tx.flush();
    await replaceProcedures(tx, deployment, procedures);
  });
}

/**
 * Records that a deployment failed; its log stays. If the app has never been live, its resources are removed first, so
 * an app that shows `failed` has none. Otherwise the live deployment continues to serve, and its resources are
 * unchanged.
 *
 * @throws {LeaseLost} when the worker lost its lease, or when the deployment is ready after all
 */
export async function failDeployment(
  deps: AppPlatform & { em: EntityManager },
  deployment: ClaimedDeployment,
  shown: { error: string; statusMessage: string },
): Promise<void> {
  const isLive = await hasLiveDeployment(deps.em.fork(), deployment);
  if (!isLive) await releaseResources(deps, deployment);
  await deps.em.fork().transactional(async (tx) => {
    await transitionDeployment(tx, deployment, "failed", isLive ? shown : { ...shown, manifest: null });
    await removeProcedures(tx, { deploymentId: deployment.deploymentId });
  });
}

/**
 * Returns whether the app has a live deployment, after a check that this worker may still fail its deployment. A worker
 * that lost its lease must not remove the resources of its successor. If the connection broke during the commit of
 * `ready`, the deployment may be live, and its resources must stay.
 *
 * @throws {LeaseLost}
 */
async function hasLiveDeployment(
  em: EntityManager,
  { appId, deploymentId, fencingToken }: ClaimedDeployment,
): Promise<boolean> {
  const app = await em.findOne(App, { id: appId, fencingToken });
  const status = { $in: statusesBefore("failed") };
  const unfinished = await em.count(Deployment, { id: deploymentId, fencingToken, status });
  if (app === null || unfinished === 0) throw new LeaseLost();
  return app.liveDeploymentId !== null;
}

/** Puts a deployment back in the queue. The attempt that ends here does not count. */
export async function requeueDeployment(
  deps: { em: EntityManager; jobs: JobQueue },
  deployment: ClaimedDeployment,
): Promise<void> {
  const { deploymentId, attempt } = deployment;
  await deps.em.fork().transactional(async (tx) => {
    await transitionDeployment(tx, deployment, "queued", {
      statusMessage: "Waiting to be built again after a restart of the service.",
    });
    await tx.nativeUpdate(Deployment, { id: deploymentId }, { attempts: attempt - 1, leaseRenewedAt: null });
    await deps.jobs.enqueue(tx, "deployment", { deploymentId });
  });
}
