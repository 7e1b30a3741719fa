import { type EntityManager, LockMode } from "@mikro-orm/core";
import { type AppStatus, IN_PROGRESS, isInProgress } from "../apps/app-status.ts";
import { App } from "../apps/app.entity.ts";
import { appIsBeingDeleted } from "../apps/lock-app.ts";
import type { Db } from "../database-types.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { pollUntil } from "../shared/back-off.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import type { DeploymentView } from "./deployment-view.ts";
import { Deployment } from "./deployment.entity.ts";
import { enqueueCommitStatus, enqueueWaiting, queueOf } from "./enqueue-deployment.ts";
import { CANCELED_MESSAGE } from "./finish-deployment.ts";
import { deploymentNotFound, getDeployment } from "./list-deployments.ts";

export interface CancelDeps {
  em: EntityManager;
  db: Db;
  jobs: JobQueue;
  /** How long a call waits for a running deployment to end, in milliseconds. */
  cancelWaitMs: number;
}

/**
 * Cancels a deployment that waits or runs, and waits until it has ended. The live deployment continues to serve. An app
 * that was never live loses its resources, as after a failure. Safe to repeat while the deployment is in progress.
 *
 * @returns the deployment, which is still in progress if its worker does not end it in time
 * @throws {ServiceError} `not_found` when the organization has no such deployment; `conflict` when it has ended, also when
 *   it became `ready` or `failed` before its worker noticed
 */
export async function cancelDeployment(
  deps: CancelDeps,
  caller: Caller,
  request: { id: string; number: number },
): Promise<DeploymentView> {
  await inTransaction(deps.em, (em) => requestEnd(em, deps.jobs, { ...request, orgId: caller.orgId }));
  const view = await pollUntil(
    () => getDeployment(deps, caller, request),
    ({ status }) => !isInProgress(status),
    Date.now() + deps.cancelWaitMs,
  );
  if (view.status !== "canceled" && !isInProgress(view.status)) throw alreadyEnded(view);
  return view;
}

async function requestEnd(
  em: EntityManager,
  jobs: JobQueue,
  { id: appId, orgId, number }: { id: string; orgId: string; number: number },
): Promise<void> {
  // The app before the deployment: the order in which every writer locks the two.
  const app = await em.findOne(App, { id: appId, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const deployment = await em.findOne(Deployment, { appId, number }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (app === null || deployment === null) throw deploymentNotFound();
  if (!isInProgress(deployment.status)) throw alreadyEnded(deployment);
  if (app.status === "deleting") throw appIsBeingDeleted();
  if (deployment.startedAt) return requestCancellation(em, jobs, app, deployment);
  const now = new Date();
  em.assign(deployment, {
    cancelRequestedAt: now,
    status: "canceled",
    statusMessage: CANCELED_MESSAGE,
    finishedAt: now,
  });
  if (app.latestDeploymentId === deployment.id) await showNewest(em, app, deployment);
  await em.flush();
  await enqueueWaiting(em, jobs, appId);
  await enqueueCommitStatus(em, jobs, { deploymentId: deployment.id, orgId, trigger: deployment.trigger });
}

async function requestCancellation(em: EntityManager, jobs: JobQueue, app: App, deployment: Deployment): Promise<void> {
  if (deployment.cancelRequestedAt) return;
  const now = new Date();
  em.assign(deployment, { cancelRequestedAt: now, statusMessage: "Canceling." });
  if (app.latestDeploymentId === deployment.id) em.assign(app, { statusMessage: "Canceling.", updatedAt: now });
  await em.flush();
  // Its worker may be gone. Another one then ends the deployment when it claims it.
  await jobs.enqueue(em, queueOf(deployment), { deploymentId: deployment.id, orgId: deployment.orgId });
}

/**
 * The app shows a deployment that was canceled before it started, unless an earlier one is still in progress: then the app
 * is not `canceled`. It counts against the plan, and its resources are in use.
 */
async function showNewest(em: EntityManager, app: App, canceled: Deployment): Promise<void> {
  const earlier = { appId: app.id, number: { $lt: canceled.number }, status: { $in: [...IN_PROGRESS] } };
  const [inProgress] = await em.find(Deployment, earlier, { orderBy: { number: "desc" }, limit: 1 });
  const { id, statusMessage, error } = inProgress ?? canceled;
  const status = inProgress === undefined ? "canceled" : (inProgress.status as AppStatus);
  em.assign(app, { latestDeploymentId: id, status, statusMessage, error, updatedAt: new Date() });
}

function alreadyEnded({ number, status }: { number: number; status: string }): ServiceError {
  return new ServiceError("conflict", `Deployment ${number} is \`${status}\` already, so it cannot be canceled.`);
}
