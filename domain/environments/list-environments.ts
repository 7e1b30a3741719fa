import { appNotFound } from "../apps/get-app.ts";
import type { AppStatus } from "../apps/app-status.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { PRODUCTION } from "./environment-rules.ts";

export interface ListEnvironmentsDeps {
  db: Db;
  urlOf(slug: string): string;
}

/** An environment of an app, which is an app too. */
export interface EnvironmentView {
  /** `production`, or the name that the environment was created with. */
  name: string;
  app_id: string;
  slug: string;
  url: string;
  status: AppStatus;
  status_message: string | null;
  /** `null` for an app without a repository. */
  branch: string | null;
  /** The number of the live deployment; `null` before the first one is ready. */
  live_deployment: number | null;
  /** The commit of the live deployment. */
  live_commit: string | null;
  created_at: string;
}

/**
 * Lists an app's environments: production first, the others by name. The id of any of them selects the same list.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app
 */
export async function listEnvironments(
  deps: ListEnvironmentsDeps,
  { orgId }: Caller,
  id: string,
): Promise<{ environments: EnvironmentView[] }> {
  const rows = await selectEnvironments(deps.db, orgId, id)
    .orderBy("apps.environment", (by) => by.asc().nullsFirst())
    .execute();
  if (rows.length === 0) throw appNotFound();
  return { environments: rows.map((row) => toView(deps, row)) };
}

/**
 * Returns one environment.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app
 */
export async function getEnvironment(
  deps: ListEnvironmentsDeps,
  { orgId }: Pick<Caller, "orgId">,
  id: string,
): Promise<EnvironmentView> {
  const row = await selectEnvironments(deps.db, orgId, id).where("apps.id", "=", id).executeTakeFirst();
  if (row === undefined) throw appNotFound();
  return toView(deps, row);
}

/** Selects all environments of the app that has the environment `id`, or is it. */
function selectEnvironments(db: Db, orgId: string, id: string) {
  const production = db
    .selectFrom("apps as given")
    .select(({ fn }) => fn.coalesce("given.parent_id", "given.id").as("id"))
    .where("given.id", "=", id)
    .where("given.org_id", "=", orgId);
  return db
    .selectFrom("apps")
    .leftJoin("deployments as live", "live.id", "apps.live_deployment_id")
    .where("apps.org_id", "=", orgId)
    .where(({ eb, or }) => or([eb("apps.id", "=", production), eb("apps.parent_id", "=", production)]))
    .select([
      "apps.id",
      "apps.environment",
      "apps.slug",
      "apps.status",
      "apps.status_message",
      "apps.branch",
      "apps.created_at",
      "live.number as live_deployment",
      "live.commit as live_commit",
    ]);
}

type EnvironmentRow = Awaited<ReturnType<ReturnType<typeof selectEnvironments>["execute"]>>[number];

function toView({ urlOf }: ListEnvironmentsDeps, row: EnvironmentRow): EnvironmentView {
  return {
    name: row.environment ?? PRODUCTION,
    app_id: row.id,
    slug: row.slug,
    url: urlOf(row.slug),
    status: row.status,
    status_message: row.status_message,
    branch: row.branch,
    live_deployment: row.live_deployment,
    live_commit: row.live_commit,
    created_at: toIsoTimestamp(row.created_at),
  };
}
