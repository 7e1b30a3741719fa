import type { PgliteConnection } from "@mikro-orm/pglite";
import type { PgBoss } from "pg-boss";
import type { JobQueue } from "../../domain/ports/job-queue.ts";
import type { Config } from "../config.ts";
import type { Orm } from "../database/orm.ts";
import { openBoss, PgBossQueue, type QueueStorage } from "../drivers/job-queue/pg-boss.ts";
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
  config: Config,
  { orm, exclusive }: DatabaseServices,
  log: Logger,
  opening: AsyncDisposableStack,
): Promise<JobQueueServices> {
  const boss = await openBoss(await queueStorage(config, orm), log);
  opening.defer(() => boss.stop({ graceful: false, close: true }));
  if (exclusive) await requeueActiveJobs(orm, boss);
  const check = async (): Promise<void> => void (await boss.getQueue("build"));
  return { boss, jobs: new PgBossQueue(boss), readiness: { name: "queue", check } };
}

async function queueStorage(config: Config, orm: Orm): Promise<QueueStorage> {
  if (config.databaseUrl !== null) return { kind: "postgres", url: config.databaseUrl };
  const connection = orm.em.getConnection() as unknown as PgliteConnection;
  return { kind: "embedded", database: await connection.getNativeClient() };
}
