import type { AppStatus } from "../apps/app-status.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";

/** The state of an app: the data of the event `app`. */
export interface AppState {
  id: string;
  /** `deleted` only in an event: the app is gone. */
  status: AppStatus | "deleted";
  /** RFC 3339 in UTC with milliseconds. */
  updated_at: string;
}

const MAX_APPS = 100;

/** Lists the apps that changed last, latest first, at most `MAX_APPS`. */
export async function listAppStates({ db }: { db: Db }, { orgId }: Caller): Promise<{ apps: AppState[] }> {
  const rows = await db
    .selectFrom("apps")
    .select(["id", "status", "updated_at"])
    .where("org_id", "=", orgId)
    .orderBy("updated_at", "desc")
    .orderBy("id")
    .limit(MAX_APPS)
    .execute();
  return { apps: rows.map((row) => ({ ...row, updated_at: toIsoTimestamp(row.updated_at) })) };
}
