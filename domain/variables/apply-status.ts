import type { Db } from "../database-types.ts";
import { pollUntil } from "../shared/back-off.ts";

/** Whether an app runs with its newest variables. */
export interface ApplyStatus {
  /** `false` while a running app still has earlier values. */
  is_applied: boolean;
  /** Why the app did not restart with the newest variables; `null` while nothing prevents it. */
  problem: string | null;
}

export interface ApplyStatusDeps {
  db: Db;
  /** How long a call waits until the app has restarted, in milliseconds. */
  restartWaitMs: number;
}

const STATUS_COLUMNS = [
  "apps.variables_version",
  "apps.variables_tried_version",
  "apps.variables_problem",
  "apps.live_deployment_id",
] as const;

interface StatusRow {
  variables_version: number;
  variables_tried_version: number;
  variables_problem: string | null;
  live_deployment_id: string | null;
}

/** Selects what {@link toApplyStatus} reads. */
export function selectApplyStatus(db: Db, appId: string) {
  return db.selectFrom("apps").select(STATUS_COLUMNS).where("apps.id", "=", appId);
}

/** An app without a live deployment starts with its newest variables. */
export function toApplyStatus(row: StatusRow): ApplyStatus {
  if (row.live_deployment_id === null) return { is_applied: true, problem: null };
  const isTried = row.variables_tried_version >= row.variables_version;
  const problem = isTried ? row.variables_problem : null;
  return { is_applied: isTried && problem === null, problem };
}

/** Waits until a version of an app's variables is applied, or could not be applied, or the time is over. */
export async function waitUntilApplied(
  { db, restartWaitMs }: ApplyStatusDeps,
  appId: string,
  version: number,
): Promise<ApplyStatus> {
  const row = await pollUntil(
    () => selectApplyStatus(db, appId).executeTakeFirst(),
    (state) => state === undefined || state.variables_tried_version >= version || state.live_deployment_id === null,
    Date.now() + restartWaitMs,
  );
  // An app that was deleted meanwhile runs with no variables.
  return row === undefined ? { is_applied: true, problem: null } : toApplyStatus(row);
}
