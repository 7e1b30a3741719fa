import type { EntityManager } from "@mikro-orm/core";
import { deploymentLogKey } from "../apps/app-resources.ts";
import type { NewDeployment } from "../apps/deploy-app.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { Deployment } from "./deployment.entity.ts";

/** Records a deployment and queues it in the transaction of `em`: both exist exactly if that transaction commits. */
export async function enqueueDeployment(em: EntityManager, jobs: JobQueue, request: NewDeployment): Promise<void> {
  const logKey = deploymentLogKey(request.appId, request.number);
  em.create(Deployment, { ...request, logKey, status: "queued" });
  await em.flush();
  await jobs.enqueue(em, "deployment", { deploymentId: request.id });
}
