import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { type AppDetail, appSummary, SUMMARY_COLUMNS } from "./app-view.ts";

export interface GetAppDeps {
  db: Db;
  tokenSecret: string;
  urlOf(slug: string): string;
}

const SOURCE_COLUMNS = [
  "repo",
  "git_host",
  "branch",
  "archive_id",
  "root_directory",
  "build_network",
  "requested_runtime",
  "latest_deployment_id",
  "live_deployment_id",
] as const;

/** @throws {ServiceError} `not_found` when the organization has no such app */
export async function getApp(deps: GetAppDeps, { orgId }: Caller, id: string): Promise<AppDetail> {
  // Filtering by organization, rather than checking it afterwards, makes another
  // organization's app indistinguishable from one that never existed.
  const row = await deps.db
    .selectFrom("apps")
    .select([...SUMMARY_COLUMNS, "org_id", "created_by", "error", "manifest", ...SOURCE_COLUMNS])
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  if (row === undefined) throw appNotFound();
  return {
    ...appSummary(row, deps.tokenSecret),
    org_id: row.org_id,
    ...(row.created_by === null ? {} : { user_id: row.created_by, created_by: row.created_by }),
    error: row.error,
    manifest: row.manifest,
    url: deps.urlOf(row.slug),
    repo: row.repo,
    host: row.git_host,
    branch: row.branch,
    archive: row.archive_id,
    root_directory: row.root_directory,
    build_network: row.build_network,
    requested_runtime: row.requested_runtime,
    latest_deployment_id: row.latest_deployment_id,
    live_deployment_id: row.live_deployment_id,
  };
}

/** The same error for an app that never existed, one that is gone, and one of another organization. */
export function appNotFound(): ServiceError {
  return new ServiceError("not_found", "App not found");
}

/** @throws {ServiceError} `not_found` when the organization has no such app */
export async function requireApp(db: Db, { orgId, id }: { orgId: string; id: string }): Promise<void> {
  const app = db.selectFrom("apps").select("id").where("id", "=", id).where("org_id", "=", orgId);
  if ((await app.executeTakeFirst()) === undefined) throw appNotFound();
}
