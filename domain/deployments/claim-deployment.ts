import type { EntityManager } from "@mikro-orm/core";
import { LockMode } from "@mikro-orm/core";
import { IN_PROGRESS, isInProgress } from "../apps/app-status.ts";
import { App } from "../apps/app.entity.ts";
import type { Runtime } from "../ports/bundler.ts";
import { inTransaction } from "../shared/transaction.ts";
import { Deployment, type DeploymentTrigger } from "./deployment.entity.ts";

/** A deployment that this worker may run, as long as the app's fencing token is still `fencingToken`. */
export interface ClaimedDeployment {
  deploymentId: string;
  appId: string;
  orgId: string;
  slug: string;
  tokenVersion: number;
  /** `null` for a deployment of an archive, which also has no branch. */
  repo: string | null;
  /** `null` for a deployment of a repository. */
  archiveId: string | null;
  /** The connected git host that has the repository; `null` for the service's own. */
  gitHost: string | null;
  branch: string | null;
  number: number;
  /** The commit to deploy; `null` for the newest one of the branch. */
  requestedCommit: string | null;
  branchIsDefault: boolean;
  customization: string | null;
  /** The folder to build; `null` to find it. */
  rootDirectory: string | null;
  buildNetwork: boolean;
  /** How the app has to run; `null` to detect it. */
  requestedRuntime: Runtime | null;
  trigger: DeploymentTrigger;
  /** For a rollback: the deployment whose bundle goes live again. */
  rollbackToId: string | null;
  /** For a promotion: the deployment of another environment whose bundle goes live here. */
  promotedFromId: string | null;
  /** For a promotion: the name of that environment. */
  promotedFrom: string | null;
  /** Whether the owner wants it to end. */
  isCanceled: boolean;
  /** Where the export is whose data the app gets before it is live; `null` for other apps, and afterwards. */
  importKey: string | null;
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
 * @returns `null` when there is nothing to do: the deployment is finished, its app is gone or being deleted, or an earlier
 *   deployment of the app is in progress, whose end queues this one again
 * @throws {DeploymentIsLeased}
 */
export async function claimDeployment(em: EntityManager, deploymentId: string): Promise<ClaimedDeployment | null> {
  const found = await em.fork().findOne(Deployment, { id: deploymentId }, { fields: ["appId"] });
  if (found === null) return null;
  return inTransaction(em, async (tx) => {
    // The app before the deployment: the order in which every writer locks the two.
    const app = await tx.findOne(App, { id: found.appId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const deployment = await tx.findOne(Deployment, { id: deploymentId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (app === null || app.status === "deleting") return null;
    if (deployment === null || !isInProgress(deployment.status)) return null;
    if (deployment.leaseRenewedAt && Date.now() - deployment.leaseRenewedAt.getTime() < LEASE_MS)
      throw new DeploymentIsLeased(`another worker holds the lease on deployment ${deploymentId}`);
    if (await hasEarlierInProgress(tx, deployment)) return null;
    return lease(app, deployment);
  });
}

async function hasEarlierInProgress(em: EntityManager, { appId, number }: Deployment): Promise<boolean> {
  return (await em.count(Deployment, { appId, number: { $lt: number }, status: { $in: [...IN_PROGRESS] } })) > 0;
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
  deployment.steps = null;
  return {
    deploymentId: deployment.id,
    appId: app.id,
    orgId: app.orgId,
    slug: app.slug,
    tokenVersion: app.tokenVersion,
    repo: deployment.repo ?? null,
    archiveId: deployment.archiveId ?? null,
    gitHost: deployment.gitHost ?? null,
    branch: deployment.branch ?? null,
    number: deployment.number,
    requestedCommit: deployment.requestedCommit ?? null,
    branchIsDefault: deployment.branchIsDefault,
    customization: deployment.customization ?? null,
    rootDirectory: deployment.rootDirectory ?? null,
    buildNetwork: deployment.buildNetwork,
    requestedRuntime: deployment.requestedRuntime ?? null,
    trigger: deployment.trigger,
    rollbackToId: deployment.rollbackToId ?? null,
    promotedFromId: deployment.promotedFromId ?? null,
    promotedFrom: deployment.promotedFrom ?? null,
    isCanceled: deployment.cancelRequestedAt !== null && deployment.cancelRequestedAt !== undefined,
    importKey: app.importKey ?? null,
    logKey: deployment.logKey,
    attempt: deployment.attempts,
    fencingToken: app.fencingToken,
  };
}
