import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { type ConstructorOptions, fromKysely, type KyselyTransactionLike, PgBoss, type QueueOptions } from "pg-boss";
import type { JobQueue, Jobs, QueueName } from "../../../domain/ports/job-queue.ts";

type Queue = QueueOptions & { notify: true; heartbeatSeconds: number };

/** A job whose worker shows no sign of life for this long is given to another one. pg-boss allows no less. */
const HEARTBEAT_SECONDS = 10;
const FOREVER = 10_000;

const QUEUES = {
  // A deployment counts its own attempts. The queue only repeats the job until the deployment is finished.
  deployment: queue({ expireInSeconds: 3600, retryDelay: 2, retryBackoff: true, retryDelayMax: 15 }),
  teardown: queue({ expireInSeconds: 900, retryDelay: 1, retryBackoff: true, retryDelayMax: 60 }),
  // The next sweep makes up for one that fails; tried again for ever, they would only become more and more.
  sweep: queue({ expireInSeconds: 900, retryDelay: 30, retryLimit: 2 }),
} satisfies Record<QueueName, Queue>;

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

function queue(options: QueueOptions): Queue {
  return {
    retryLimit: FOREVER,
    notify: true,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    deleteAfterSeconds: 86_400,
    ...options,
  };
}

export interface QueueLog {
  error(details: { err: unknown }, message: string): void;
  warn(details: object, message: string): void;
}

const OPTIONS = {
  max: 3,
  schema: "jobs",
  useListenNotify: true,
  monitorVacuum: false,
  reindex: false,
  schedule: false,
  superviseIntervalSeconds: 2,
  monitorIntervalSeconds: 2,
} satisfies ConstructorOptions;

/** Starts the queue on the database at `url`, with a small pool beside the ORM's, and creates the service's queues. */
export async function openBoss(url: string, log: QueueLog): Promise<PgBoss> {
  const boss = new PgBoss({ ...OPTIONS, connectionString: url });
  boss.on("error", (err) => log.error({ err }, "the job queue reports an error"));
  boss.on("warning", (warning) => log.warn({ warning: warning.message }, "the job queue reports a warning"));
  await boss.start();
  for (const name of QUEUE_NAMES) await openQueue(boss, name);
  return boss;
}

async function openQueue(boss: PgBoss, name: QueueName): Promise<void> {
  if ((await boss.getQueue(name)) === null) await boss.createQueue(name, QUEUES[name]);
  else await boss.updateQueue(name, QUEUES[name]);
  // Creating a queue drops it from the cache, and the first `send` in a transaction would then read it through
  // another connection, which the embedded database does not have: it would wait forever. Touching fills the cache.
  await boss.touch(name, "00000000-0000-0000-0000-000000000000");
}

/** Jobs in the service's own database, so that enqueueing one commits with everything else. */
export class PgBossQueue implements JobQueue {
  readonly #boss: PgBoss;

  constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  async enqueue<Q extends QueueName>(em: EntityManager, queueName: Q, job: Jobs[Q]): Promise<void> {
    const transaction = (em as SqlEntityManager).getKysely() as unknown as KyselyTransactionLike;
    await this.#boss.send(queueName, job, { db: fromKysely(transaction) });
  }

  async waiting<Q extends QueueName>(queueName: Q): Promise<Jobs[Q][]> {
    const jobs = await this.#boss.findJobs<Jobs[Q]>(queueName, { queued: true });
    return jobs.map((job) => job.data);
  }
}
