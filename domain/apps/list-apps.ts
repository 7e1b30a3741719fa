import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { type AppSummary, appSummary, SUMMARY_COLUMNS, type SummaryRow } from "./app-view.ts";

export interface ListDeps {
  db: Db;
  tokenSecret: string;
}

/** Lists every app of the caller's organization, newest first. */
export async function listApps(deps: ListDeps, { orgId }: Caller): Promise<{ apps: AppSummary[] }> {
  const rows: SummaryRow[] = await deps.db
    .selectFrom("apps")
    .select(SUMMARY_COLUMNS)
    .where("org_id", "=", orgId)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
  return { apps: rows.map((row) => appSummary(row, deps.tokenSecret)) };
}
