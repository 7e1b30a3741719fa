import type { PgBoss } from "pg-boss";
import type { JobQueue } from "../../domain/ports/job-queue.ts";
import { openBoss, PgBossQueue } from "../drivers/job-queue/pg-boss-queue.ts";
import type { ReadinessCheck } from "../http/health.ts";
import type { Logger } from "../telemetry/logger.ts";
import { requeueActiveJobs } from "../worker/requeue-active-jobs.ts";
import type { DatabaseServices } from "./database.ts";

export interface JobQueueServices {
  boss: PgBoss;
  jobs: JobQueue;
  readiness: ReadinessCheck;
}

/** Opens the job queue, which keeps its jobs in the service's database. */
export async function openJobQueue(
  { orm, url, isEmbedded }: Pick<DatabaseServices, "orm" | "url" | "isEmbedded">,
  log: Logger,
  opening: AsyncDisposableStack,
): Promise<JobQueueServices> {
  const boss = await openBoss(url, log);
  opening.defer(() => boss.stop({ graceful: false, close: true }));
  if (isEmbedded) await requeueActiveJobs(orm, boss);
  const check = async (): Promise<void> => void (await boss.getQueue("deployment"));
  return { boss, jobs: new PgBossQueue(boss), readiness: { name: "queue", check } };
}
