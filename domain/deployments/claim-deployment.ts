import type { EntityManager } from "@mikro-orm/core";
import { LockMode } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { isInProgress } from "../apps/app-status.ts";
import { Deployment } from "./deployment.entity.ts";

/** A deployment that this worker may run, as long as the app's fencing token is still `fencingToken`. */
export interface ClaimedDeployment {
  deploymentId: string;
  appId: string;
  orgId: string;
  slug: string;
  tokenVersion: number;
  repo: string;
  branch: string;
  branchIsDefault: boolean;
  customization: string | null;
  logKey: string;
  /** 1 for the first claim of the deployment. */
  attempt: number;
  fencingToken: number;
}

/** How long a lease lasts after its last renewal, in milliseconds. */
export const LEASE_MS = 10_000;

/** Another worker holds the lease, or held it until a moment ago. The queue tries again a little later. */
export class DeploymentIsLeased extends Error {
  override readonly name = "DeploymentIsLeased";
}

/**
 * Gives this worker a lease on a deployment. It raises the app's fencing token, so that every later write of an earlier
 * worker is refused.
 *
 * @returns `null` when there is nothing left to do: the deployment is finished, or its app is gone or being deleted
 * @throws {DeploymentIsLeased}
 */
export async function claimDeployment(em: EntityManager, deploymentId: string): Promise<ClaimedDeployment | null> {
  const found = await em.fork().findOne(Deployment, { id: deploymentId }, { fields: ["appId"] });
  if (found === null) return null;
  return em.fork().transactional(async (tx) => {
    // The app before the deployment: the order in which every writer locks the two.
    const app = await tx.findOne(App, { id: found.appId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const deployment = await tx.findOne(Deployment, { id: deploymentId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (app === null || app.status === "deleting") return null;
    if (deployment === null || !isInProgress(deployment.status)) return null;
    if (deployment.leaseRenewedAt && Date.now() - deployment.leaseRenewedAt.getTime() < LEASE_MS)
      throw new DeploymentIsLeased(`another worker holds the lease on deployment ${deploymentId}`);
    return lease(app, deployment);
  });
}

function lease(app: App, deployment: Deployment): ClaimedDeployment {
  app.fencingToken += 1;
  if (app.latestDeploymentId === deployment.id) app.status = "queued";
  const now = new Date();
  deployment.fencingToken = app.fencingToken;
  deployment.leaseRenewedAt = now;
  deployment.startedAt ??= now;
  deployment.attempts += 1;
  deployment.status = "queued";
  return {
    deploymentId: deployment.id,
    appId: app.id,
    orgId: app.orgId,
    slug: app.slug,
    tokenVersion: app.tokenVersion,
    repo: deployment.repo,
    branch: deployment.branch,
    branchIsDefault: deployment.branchIsDefault,
    customization: deployment.customization ?? null,
    logKey: deployment.logKey,
    attempt: deployment.attempts,
    fencingToken: app.fencingToken,
  };
}
