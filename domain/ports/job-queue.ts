import type { EntityManager } from "@mikro-orm/core";

/** The data of a job, by its queue. */
export interface Jobs {
  deployment: { deploymentId: string };
  /** Deployments that build nothing. */
  rollback: { deploymentId: string };
  teardown: { appId: string };
  /** Restarts an app with its newest variables. */
  variables: { appId: string };
  sweep: Record<string, never>;
}

export type QueueName = keyof Jobs;

/** Work that continues after the call that requested it, also in another process. */
export interface JobQueue {
  /** Adds a job in the transaction of `em`: it exists exactly if that transaction commits. */
  enqueue<Q extends QueueName>(em: EntityManager, queue: Q, job: Jobs[Q]): Promise<void>;
  /** Lists the jobs that wait for a worker, including those that wait for another attempt. */
  listWaiting<Q extends QueueName>(queue: Q): Promise<Jobs[Q][]>;
}
