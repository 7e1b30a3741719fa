import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { type ConstructorOptions, fromKysely, type KyselyTransactionLike, PgBoss, type QueueOptions } from "pg-boss";
import type { JobQueue, Jobs, QueueName } from "../../../domain/ports/job-queue.ts";
import { fairOptions, SCHEMA } from "./fair-priority.ts";

type Queue = QueueOptions & { notify: true; heartbeatSeconds: number };

/** Another worker gets a job when its worker has sent no heartbeat for this time. pg-boss accepts no shorter one. */
const HEARTBEAT_SECONDS = 10;
/** In practice no limit: jobs are repeated until they succeed. */
const UNLIMITED_RETRIES = 10_000;
const DAY_SECONDS = 86_400;

const QUEUES = {
  // A deployment counts its own attempts. The queue only repeats the job until the deployment is finished.
  deployment: queue({ expireInSeconds: 3600, retryDelay: 2, retryBackoff: true, retryDelayMax: 15 }),
  rollback: queue({ expireInSeconds: 900, retryDelay: 1, retryBackoff: true, retryDelayMax: 15 }),
  teardown: queue({ expireInSeconds: 900, retryDelay: 1, retryBackoff: true, retryDelayMax: 60 }),
  variables: queue({ expireInSeconds: 900, retryDelay: 1, retryBackoff: true, retryDelayMax: 60 }),
  // A source that is not read is read again on the next day.
  source: queue({ expireInSeconds: 3600, retryDelay: 2, retryBackoff: true, retryDelayMax: 300, retryLimit: 20 }),
  push: queue({ expireInSeconds: 300, retryDelay: 1, retryBackoff: true, retryDelayMax: 60 }),
  // The next look does the work of a failed one.
  "push-poll": queue({ expireInSeconds: 300, retryLimit: 0 }),
  // The deployment does not depend on it.
  "commit-status": queue({
    expireInSeconds: 300,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 300,
    retryLimit: 6,
  }),
  // The next sweep does the work of a failed one. Without a limit, failed sweeps would accumulate.
  sweep: queue({ expireInSeconds: 900, retryDelay: 30, retryLimit: 2 }),
} satisfies Record<QueueName, Queue>;

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

function queue(options: QueueOptions): Queue {
  return {
    retryLimit: UNLIMITED_RETRIES,
    notify: true,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    deleteAfterSeconds: DAY_SECONDS,
    ...options,
  };
}

export interface QueueLog {
  error(details: { err: unknown }, message: string): void;
  warn(details: object, message: string): void;
}

const OPTIONS = {
  max: 3,
  schema: SCHEMA,
  useListenNotify: true,
  monitorVacuum: false,
  reindex: false,
  schedule: false,
  superviseIntervalSeconds: 2,
  monitorIntervalSeconds: 2,
} satisfies ConstructorOptions;

/**
 * Starts pg-boss on the database at `url` and creates the service's queues. It has its own small connection pool, so jobs
 * are fetched even when requests use every connection of the ORM.
 */
export async function openBoss(url: string, log: QueueLog): Promise<PgBoss> {
  const boss = new PgBoss({ ...OPTIONS, connectionString: url });
  boss.on("error", (err) => log.error({ err }, "the job queue reports an error"));
  boss.on("warning", (warning) => log.warn({ warning: warning.message }, "the job queue reports a warning"));
  await boss.start();
  for (const name of QUEUE_NAMES) await createOrUpdateQueue(boss, name);
  return boss;
}

async function createOrUpdateQueue(boss: PgBoss, name: QueueName): Promise<void> {
  if ((await boss.getQueue(name)) === null) await boss.createQueue(name, QUEUES[name]);
  else await boss.updateQueue(name, QUEUES[name]);
}

/** A job queue in the service's own database, so that a job commits together with the records that it concerns. */
export class PgBossQueue implements JobQueue {
  readonly #boss: PgBoss;

  constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  async enqueue<Q extends QueueName>(em: EntityManager, queueName: Q, job: Jobs[Q], delaySeconds = 0): Promise<void> {
    const transaction = (em as SqlEntityManager).getKysely() as unknown as KyselyTransactionLike;
    const db = fromKysely(transaction);
    const options = "orgId" in job ? await fairOptions(db, queueName, job.orgId) : {};
    await this.#boss.send(queueName, job, { db, ...options, ...(delaySeconds > 0 && { startAfter: delaySeconds }) });
  }

  async listWaiting<Q extends QueueName>(queueName: Q): Promise<Jobs[Q][]> {
    const jobs = await this.#boss.findJobs<Jobs[Q]>(queueName, { queued: true });
    return jobs.map((job) => job.data);
  }
}
