import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import { removeProcedures, replaceProcedures } from "../procedures/replace-procedures.ts";
import { inTransaction } from "../shared/transaction.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import { statusesBefore } from "./deployment-status.ts";
import { Deployment } from "./deployment.entity.ts";
import { enqueueCommitStatus, enqueueWaiting, queueOf } from "./enqueue-deployment.ts";
import { LeaseLost } from "./lease.ts";
import { type AppPlatform, releaseResources } from "./release-resources.ts";
import { transitionDeployment } from "./transition-deployment.ts";

/** What the owner of a canceled deployment reads. */
export const CANCELED_MESSAGE = "The deployment was canceled. Deploy again to continue.";

interface EndDeps {
  em: EntityManager;
  jobs: JobQueue;
}

export interface FinishedDeployment {
  procedures: readonly DiscoveredProcedure[];
  /** A problem that did not prevent the deployment, for the app's owner. */
  statusMessage: string | null;
  /** Where the bundle is stored. */
  artifactKey: string | null;
  /** The framework of the app, for its manifest. */
  framework: string | null;
}

/**
 * Records that a deployment is live, and its procedures with it. The deployment that was live before is `superseded`. The
 * next deployment of the app can start.
 *
 * @throws {LeaseLost} when the worker lost its lease just before
 */
export async function finishDeployment(
  { em, jobs }: EndDeps,
  deployment: ClaimedDeployment,
  { procedures, statusMessage, artifactKey, framework }: FinishedDeployment,
): Promise<void> {
  const { appId, deploymentId } = deployment;
  await inTransaction(em, async (tx) => {
    const app = await transitionDeployment(tx, deployment, "ready", { statusMessage, error: null });
    await tx.nativeUpdate(Deployment, { id: deploymentId }, { artifactKey });
    const { runtime } = await tx.findOneOrFail(Deployment, { id: deploymentId }, { fields: ["runtime"] });
    const replaced = { id: app.liveDeploymentId, status: { $in: statusesBefore("superseded") } };
    if (app.liveDeploymentId) await tx.nativeUpdate(Deployment, replaced, { status: "superseded" });
    app.liveDeploymentId = deploymentId;
    app.importKey = null;
    if (runtime) app.runtime = runtime;
    const { framework: _replaced, ...resources } = app.manifest ?? {};
    app.manifest = framework === null ? resources : { ...resources, framework };
    await tx.flush();
    // Without this job, a problem of the replaced script with the variables would stay recorded.
    if (app.variablesTriedVersion < app.variablesVersion || app.variablesProblem)
      await jobs.enqueue(tx, "variables", { appId, orgId: app.orgId });
    await enqueueWaiting(tx, jobs, appId);
    await enqueueCommitStatus(tx, jobs, deployment);
    // Last, because other deployments of the organization wait for the search index from here on.
    await replaceProcedures(tx, deployment, procedures);
  });
}

/**
 * Records that a deployment failed; its log stays. If the app has never been live, its resources are removed first, so
 * an app that shows `failed` has none. Otherwise the live deployment continues to serve, and its resources are
 * unchanged. The next deployment of the app can start.
 *
 * @throws {LeaseLost} when the worker lost its lease, or when the deployment is ready after all
 */
export function failDeployment(
  deps: AppPlatform & EndDeps,
  deployment: ClaimedDeployment,
  shown: { error: string; statusMessage: string },
): Promise<void> {
  return endWithoutResult(deps, deployment, "failed", shown);
}

/** Ends a deployment that its owner canceled, as `failDeployment` does. */
export function endCanceledDeployment(deps: AppPlatform & EndDeps, deployment: ClaimedDeployment): Promise<void> {
  return endWithoutResult(deps, deployment, "canceled", { error: null, statusMessage: CANCELED_MESSAGE });
}

async function endWithoutResult(
  deps: AppPlatform & EndDeps,
  deployment: ClaimedDeployment,
  status: "failed" | "canceled",
  shown: { error: string | null; statusMessage: string },
): Promise<void> {
  const isLive = await hasLiveDeployment(deps.em.fork(), deployment);
  if (!isLive) await releaseResources(deps, deployment);
  await inTransaction(deps.em, async (tx) => {
    await transitionDeployment(tx, deployment, status, isLive ? shown : { ...shown, manifest: null });
    await removeProcedures(tx, { deploymentId: deployment.deploymentId });
    await enqueueWaiting(tx, deps.jobs, deployment.appId);
    await enqueueCommitStatus(tx, deps.jobs, deployment);
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
export async function requeueDeployment(deps: EndDeps, deployment: ClaimedDeployment): Promise<void> {
  const { deploymentId, orgId, attempt } = deployment;
  await inTransaction(deps.em, async (tx) => {
    await transitionDeployment(tx, deployment, "queued", {
      statusMessage: "Waiting to be built again after a restart of the service.",
    });
    await tx.nativeUpdate(
      Deployment,
      { id: deploymentId },
      { attempts: attempt - 1, leaseRenewedAt: null, steps: null },
    );
    await deps.jobs.enqueue(tx, queueOf(deployment), { deploymentId, orgId });
  });
}
