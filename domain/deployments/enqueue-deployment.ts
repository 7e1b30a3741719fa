import type { EntityManager } from "@mikro-orm/core";
import type { NewDeployment } from "../apps/deploy-app.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { Build } from "./deployment.entity.ts";

/** Records a build and queues it, in the transaction of `em`: both exist exactly if that transaction commits. */
export async function enqueueDeployment(em: EntityManager, jobs: JobQueue, request: NewDeployment): Promise<void> {
  const build = em.create(Build, { ...request });
  await em.flush();
  await jobs.enqueue(em, "build", { buildId: build.id });
}
