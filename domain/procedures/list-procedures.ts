import type { ExpressionBuilder } from "kysely";
import type { AppStatus } from "../apps/app-status.ts";
import type { Versioned } from "../shared/versioned-cache.ts";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import type { Db, DatabaseTables } from "../database-types.ts";

/** A procedure that can be called now, with its app. */
export interface LiveProcedure extends DiscoveredProcedure {
  appId: string;
  /** The app's display name. */
  app: string;
  slug: string;
  tokenVersion: number;
}

const COLUMNS = [
  "apps.id as appId",
  "apps.name as app",
  "apps.slug",
  "apps.token_version as tokenVersion",
  "app_procedures.name",
  "app_procedures.kind",
  "app_procedures.description",
  "app_procedures.input_schema as inputSchema",
  "app_procedures.output_schema as outputSchema",
  "app_procedures.invocation",
] as const;

/** The version of an organization without live apps. */
export const NO_LIVE_APPS = "none";

/**
 * An aggregate over live apps that changes when their procedures or tokens change. The procedures of a deployment are
 * written once, when it goes live, and the version of an app's token only grows. Timestamps would miss a second change
 * within a millisecond, and changes by processes whose clocks differ.
 */
function procedureVersion({ fn, val, lit }: ExpressionBuilder<DatabaseTables, "apps">) {
  const procedures = fn.sum(fn<string>("uuid_hash_extended", ["live_deployment_id", lit(0)]));
  return fn<string>("concat_ws", [val(" "), fn.countAll(), procedures, fn.sum("token_version")]).as("version");
}

/** An app is live while it has a live deployment, also if a newer deployment is in progress or has failed. */
function isLive({ and, eb }: ExpressionBuilder<DatabaseTables, "apps">) {
  return and([eb("apps.live_deployment_id", "is not", null), eb("apps.status", "<>", "deleting" satisfies AppStatus)]);
}

/** Reads the current version of each organization's procedures. An organization without live apps is not in the map. */
export async function readProcedureVersions(db: Db, orgIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom("apps")
    .select("org_id")
    .select(procedureVersion)
    .where("org_id", "in", orgIds)
    .where(isLive)
    .groupBy("org_id")
    .execute();
  return new Map(rows.map(({ org_id: orgId, version }) => [orgId, version]));
}

/**
 * Lists the procedures of the organization's live apps, by slug, then by name. Their names, descriptions and schemas come
 * from the apps and are untrusted.
 */
export async function listProcedures(db: Db, orgId: string): Promise<Versioned<LiveProcedure[]>> {
  const version = db.selectFrom("apps").select(procedureVersion).where("org_id", "=", orgId).where(isLive);
  const rows = await db
    .selectFrom("apps")
    // Both tables are filtered by organization, so that a wrong row can never appear in another organization.
    .leftJoin("app_procedures", (join) =>
      join
        .onRef("app_procedures.deployment_id", "=", "apps.live_deployment_id")
        .on("app_procedures.org_id", "=", orgId),
    )
    .select(COLUMNS)
    .select(version.as("version"))
    .where("apps.org_id", "=", orgId)
    .where(isLive)
    .orderBy("apps.slug")
    .orderBy("app_procedures.name")
    .execute();
  const value = rows.flatMap(({ version: _version, ...row }) => (row.name === null ? [] : [row as LiveProcedure]));
  return { version: rows[0]?.version ?? NO_LIVE_APPS, value };
}
