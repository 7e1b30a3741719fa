import { IN_PROGRESS } from "../apps/app-status.ts";

/**
 * Every status of a deployment. The list is closed. `superseded` is a deployment that a newer one replaced: one that was
 * live, or one that still waited for a worker.
 */
export const DEPLOYMENT_STATUSES = [...IN_PROGRESS, "ready", "failed", "canceled", "superseded"] as const;

export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

/**
 * The allowed transitions. A deployment returns to `queued` when a worker starts it again after a crash or a stop. A
 * rollback has nothing to clone or build, so it goes from `queued` to `provisioning`.
 */
export const TRANSITIONS = {
  queued: ["queued", "cloning", "provisioning", "failed", "canceled", "superseded"],
  cloning: ["queued", "customizing", "building", "failed", "canceled"],
  customizing: ["queued", "building", "failed", "canceled"],
  building: ["queued", "provisioning", "failed", "canceled"],
  provisioning: ["queued", "ready", "failed", "canceled"],
  ready: ["superseded"],
  failed: [],
  canceled: [],
  superseded: [],
} as const satisfies Record<DeploymentStatus, readonly DeploymentStatus[]>;

/** The statuses from which a deployment may change to `status`. */
export function statusesBefore(status: DeploymentStatus): DeploymentStatus[] {
  return DEPLOYMENT_STATUSES.filter((from) => (TRANSITIONS[from] as readonly DeploymentStatus[]).includes(status));
}
