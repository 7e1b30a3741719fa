/** A deployment with one of these statuses waits for a worker or is being worked on. */
export const IN_PROGRESS = ["queued", "cloning", "customizing", "building", "provisioning"] as const;

/**
 * Every public status of an app: the status of its newest deployment, or `deleting` during the teardown. The list is
 * closed. `deployments/deployment-status.ts` has the transitions between all statuses but `deleting`. Every status may
 * change to `deleting`, which is final: the record is removed next.
 */
export const APP_STATUSES = [...IN_PROGRESS, "ready", "failed", "canceled", "deleting"] as const;

export type AppStatus = (typeof APP_STATUSES)[number];

export function isInProgress(status: string): boolean {
  return (IN_PROGRESS as readonly string[]).includes(status);
}
