import type { EntityManager } from "@mikro-orm/core";

/** What each queue's jobs carry. */
export interface Jobs {
  deployment: { deploymentId: string };
  teardown: { appId: string };
  sweep: Record<string, never>;
}

export type QueueName = keyof Jobs;

/** Work that outlives the call that asked for it. */
export interface JobQueue {
  /** Adds a job in the transaction of `em`: it exists exactly if that transaction commits. */
  enqueue<Q extends QueueName>(em: EntityManager, queue: Q, job: Jobs[Q]): Promise<void>;
  /** What is waiting for a worker, jobs that are to be tried again included. */
  waiting<Q extends QueueName>(queue: Q): Promise<Jobs[Q][]>;
}
