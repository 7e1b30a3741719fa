import type { EntityManager } from "@mikro-orm/core";

export interface DeploymentJob {
  deploymentId: string;
  orgId: string;
}

/** The data of a job, by its queue. */
export interface Jobs {
  deployment: DeploymentJob;
  /** Deployments that build nothing. */
  rollback: DeploymentJob;
  teardown: { appId: string };
  /** Restarts an app with its newest variables. */
  variables: { appId: string; orgId: string };
  /** Reads a source of Company Knowledge, or removes one that is deleted. */
  source: { sourceId: string; orgId: string };
  /** Deploys what was pushed. */
  push: { deliveryId: string; orgId: string };
  /** Looks for a new commit of a branch. */
  "push-poll": { endpointId: string; orgId: string };
  /** Tells the git host how the deployment of a commit goes. */
  "commit-status": { deploymentId: string; orgId: string };
  sweep: Record<string, never>;
}

export type QueueName = keyof Jobs;

/** Work that continues after the call that requested it, also in another process. */
export interface JobQueue {
  /**
   * Adds a job in the transaction of `em`: it exists exactly if that transaction commits. Jobs with an organization are fair:
   * the first one of an organization runs before the further ones of others.
   *
   * @param delaySeconds - the job runs after this time; by default at once
   */
  enqueue<Q extends QueueName>(em: EntityManager, queue: Q, job: Jobs[Q], delaySeconds?: number): Promise<void>;
  /** Lists the jobs that wait for a worker, including those that wait for another attempt. */
  listWaiting<Q extends QueueName>(queue: Q): Promise<Jobs[Q][]>;
}
