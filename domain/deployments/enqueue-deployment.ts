import type { EntityManager } from "@mikro-orm/core";
import { deploymentLogKey } from "../apps/app-resources.ts";
import type { NewDeployment } from "../apps/deploy-app.ts";
import { queryBuilderOf } from "../database-types.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { addCounts } from "../usage/usage-counter.ts";
import { dayOf, periodOf } from "../usage/usage-period.ts";
import { Deployment } from "./deployment.entity.ts";

/** Records a deployment and queues it in the transaction of `em`: both exist exactly if that transaction commits. */
export async function enqueueDeployment(em: EntityManager, jobs: JobQueue, request: NewDeployment): Promise<void> {
  const logKey = deploymentLogKey(request.appId, request.number);
  em.create(Deployment, { ...request, logKey, status: "queued" });
  await em.flush();
  const { orgId, appId } = request;
  const now = new Date();
  const counted = { org_id: orgId, metric: "deployments", count: 1 } as const;
  await addCounts(queryBuilderOf(em as never), [
    { ...counted, period: periodOf(now), subject_id: orgId },
    { ...counted, period: dayOf(now), subject_id: appId },
  ]);
  await jobs.enqueue(em, queueOf(request), { deploymentId: request.id, orgId: request.orgId });
}

/**
 * Queues the deployment of an app that waited for one that has just ended. Call it in the transaction that ended it.
 */
export async function enqueueWaiting(em: EntityManager, jobs: JobQueue, appId: string): Promise<void> {
  const waiting = await em.findOne(Deployment, { appId, status: "queued" }, { orderBy: { number: "asc" } });
  if (waiting !== null) await jobs.enqueue(em, queueOf(waiting), { deploymentId: waiting.id, orgId: waiting.orgId });
}

/** Tells the git host, if a push started the deployment, that it has ended. Call it in the transaction that ended it. */
export async function enqueueCommitStatus(
  em: EntityManager,
  jobs: JobQueue,
  { deploymentId, orgId, trigger }: Pick<Deployment, "orgId" | "trigger"> & { deploymentId: string },
): Promise<void> {
  if (trigger === "push") await jobs.enqueue(em, "commit-status", { deploymentId, orgId });
}

/** Rollbacks and promotions build nothing, so they do not wait for the builds of others. */
export function queueOf({ trigger }: Pick<Deployment, "trigger">): "deployment" | "rollback" {
  return trigger === "rollback" || trigger === "promotion" ? "rollback" : "deployment";
}
