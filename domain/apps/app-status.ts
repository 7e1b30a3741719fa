/** Every status an app can have. The list is closed; the transitions below are the only ones. */
export const APP_STATUSES = [
  "queued",
  "cloning",
  "customizing",
  "building",
  "provisioning",
  "ready",
  "failed",
  "canceled",
  "deleting",
] as const;

export type AppStatus = (typeof APP_STATUSES)[number];

/**
 * Where each status may lead. A build that is taken up again after a crash or a stop returns to `queued` first.
 * Nothing leaves `deleting` but the removal of the record.
 */
export const TRANSITIONS = {
  queued: ["queued", "cloning", "failed", "canceled", "deleting"],
  cloning: ["queued", "customizing", "building", "failed", "canceled", "deleting"],
  customizing: ["queued", "building", "failed", "canceled", "deleting"],
  building: ["queued", "provisioning", "failed", "canceled", "deleting"],
  provisioning: ["queued", "ready", "failed", "canceled", "deleting"],
  ready: ["deleting"],
  failed: ["deleting"],
  canceled: ["deleting"],
  deleting: ["deleting"],
} as const satisfies Record<AppStatus, readonly AppStatus[]>;

/** The statuses that a move to `to` may start from. */
export function sourcesOf(to: AppStatus): AppStatus[] {
  return APP_STATUSES.filter((from) => (TRANSITIONS[from] as readonly AppStatus[]).includes(to));
}

/** A build is waiting or under way. */
export const IN_PROGRESS = ["queued", "cloning", "customizing", "building", "provisioning"] as const;

/** The app no longer takes room in its organization's plan. */
export const WITHOUT_PLAN_SLOT = ["failed", "canceled"] as const;
