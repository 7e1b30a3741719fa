import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import type { Manifest } from "./app.entity.ts";
import { type AppSummary, appSummary, SUMMARY_COLUMNS, type SummaryRow } from "./app-view.ts";

export interface ListDeps {
  db: Db;
  tokenSecret: string;
  urlOf(slug: string): string;
}

/** An app in the list of all apps. */
export interface ListedApp extends AppSummary {
  url: string;
  /** `null` for an app that is deployed from archives. */
  repo: string | null;
  branch: string | null;
  /** `null` before the first build. */
  framework: string | null;
}

type ListedRow = SummaryRow & { repo: string | null; branch: string | null; manifest: Manifest | null };

/** Lists every app of the caller's organization, newest first. */
export async function listApps(deps: ListDeps, { orgId }: Caller): Promise<{ apps: ListedApp[] }> {
  const rows: ListedRow[] = await deps.db
    .selectFrom("apps")
    .select([...SUMMARY_COLUMNS, "repo", "branch", "manifest"])
    .where("org_id", "=", orgId)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
  return {
    apps: rows.map((row) => ({
      ...appSummary(row, deps.tokenSecret),
      url: deps.urlOf(row.slug),
      repo: row.repo,
      branch: row.branch,
      framework: row.manifest?.framework ?? null,
    })),
  };
}
