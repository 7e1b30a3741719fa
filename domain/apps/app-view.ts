import type { Runtime } from "../ports/bundler.ts";
import type { Manifest } from "./app.entity.ts";
import type { AppStatus } from "./app-status.ts";
import { appToken } from "./app-token.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";

/** An app in a list, the same in every API. Timestamps are RFC 3339 in UTC with milliseconds. */
export interface AppSummary {
  id: string;
  name: string;
  slug: string;
  /** The name of the environment; `null` for a production app. */
  environment: string | null;
  /** The production app of an environment; `null` for a production app. */
  parent_id: string | null;
  status: AppStatus;
  status_message: string | null;
  /** How the live version runs, or else the newest one that was built; `null` before the first build. */
  runtime: Runtime | null;
  created_at: string;
  updated_at: string;
  app_token: string;
}

/** One app with all its fields, the same in every API. */
export interface AppDetail extends AppSummary {
  user_id?: string;
  org_id: string;
  created_by?: string;
  error: string | null;
  manifest: Manifest | null;
  url: string;
  /** `null` for an app that is deployed from archives. */
  repo: string | null;
  /** The connected git host that has the repository; `null` for the service's own. */
  host: string | null;
  /** `null` for an app without a repository. */
  branch: string | null;
  /** The id of the archive that the next deployment deploys; `null` for an app from a repository. */
  archive: string | null;
  root_directory: string | null;
  build_network: boolean;
  /** How the next deployment has to run; `null` to detect it. */
  requested_runtime: Runtime | null;
  /**
   * The newest deployment, without one that was canceled while it waited for another. The fields `status`,
   * `status_message` and `error` are those of it.
   */
  latest_deployment_id: string;
  /** The deployment that serves requests; `null` before the first one is ready. */
  live_deployment_id: string | null;
}

export interface SummaryRow {
  id: string;
  name: string;
  slug: string;
  environment: string | null;
  parent_id: string | null;
  status: AppStatus;
  status_message: string | null;
  storage_problem: string | null;
  runtime: Runtime | null;
  token_version: number;
  created_at: Date | string;
  updated_at: Date | string;
}

export const SUMMARY_COLUMNS = [
  "id",
  "name",
  "slug",
  "environment",
  "parent_id",
  "status",
  "status_message",
  "storage_problem",
  "runtime",
  "token_version",
  "created_at",
  "updated_at",
] as const;

export function appSummary(row: SummaryRow, tokenSecret: string): AppSummary {
  return {
    ...appOutline(row),
    app_token: appToken(tokenSecret, { id: row.id, tokenVersion: row.token_version }),
  };
}

/** A summary without the token. Deriving the token is most of the work, so a list that does not show it skips that. */
export function appOutline(row: SummaryRow): Omit<AppSummary, "app_token"> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    environment: row.environment,
    parent_id: row.parent_id,
    status: row.status,
    status_message: (row.status === "deleting" ? null : row.storage_problem) ?? row.status_message,
    runtime: row.runtime,
    created_at: toIsoTimestamp(row.created_at),
    updated_at: toIsoTimestamp(row.updated_at),
  };
}
