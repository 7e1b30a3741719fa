import type { ExpressionBuilder } from "kysely";
import type { DirectTools } from "../organizations/organization.entity.ts";
import type { AppStatus } from "../apps/app-status.ts";
import type { Versioned } from "../shared/versioned-cache.ts";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import type { Db, DatabaseTables } from "../database-types.ts";

/** A procedure that can be called now, with its app. */
export interface LiveProcedure extends DiscoveredProcedure {
  appId: string;
  /** The app's live deployment. */
  deploymentId: string;
  /** The app's display name. */
  app: string;
  slug: string;
  tokenVersion: number;
}

/** What the name of a direct tool depends on. */
export type NamedProcedure = Pick<LiveProcedure, "appId" | "slug" | "name">;

const COLUMNS = [
  "apps.id as appId",
  "app_procedures.deployment_id as deploymentId",
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
 * An aggregate over the live apps of an organization that changes when their procedures or tokens change, or whether they are
 * direct tools. The procedures of a deployment are
 * written once, when it goes live, and the version of an app's token only grows. Timestamps would miss a second change
 * within a millisecond, and changes by processes whose clocks differ.
 */
function procedureVersion({ fn, val, lit }: ExpressionBuilder<DatabaseTables, "apps" | "organizations">) {
  const procedures = fn.sum(fn<string>("uuid_hash_extended", ["live_deployment_id", lit(0)]));
  const directTools = fn.max("organizations.direct_tools");
  const parts = [val(" "), fn.countAll(), procedures, fn.sum("token_version"), directTools];
  return fn<string>("concat_ws", parts).as("version");
}

function selectProcedureVersion(db: Db) {
  return db
    .selectFrom("apps")
    .innerJoin("organizations", "organizations.id", "apps.org_id")
    .select(procedureVersion)
    .where(isLive);
}

/** An app is live while it has a live deployment, also if a newer deployment is in progress or has failed. */
export function isLive({ and, eb }: ExpressionBuilder<DatabaseTables, "apps">) {
  return and([eb("apps.live_deployment_id", "is not", null), eb("apps.status", "<>", "deleting" satisfies AppStatus)]);
}

/** Reads the current version of each organization's procedures. An organization without live apps is not in the map. */
export async function readProcedureVersions(db: Db, orgIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await selectProcedureVersion(db)
    .select("org_id")
    .where("org_id", "in", orgIds)
    .groupBy("org_id")
    .execute();
  return new Map(rows.map(({ org_id: orgId, version }) => [orgId, version]));
}

/** Reads procedures of the organization's live apps by their ids in the search index, in any order. */
export async function readProceduresByIndexId(
  db: Db,
  orgId: string,
  indexIds: readonly number[],
): Promise<(LiveProcedure & { indexId: number })[]> {
  const rows = await db
    // Materialized, because a database without current statistics would read all procedures of all apps instead.
    .with(
      (cte) => cte("app_procedures").materialized(),
      (all) =>
        all
          .selectFrom("app_procedures")
          .selectAll()
          .where("app_procedures.org_id", "=", orgId)
          .where("app_procedures.index_id", "in", indexIds),
    )
    .selectFrom("app_procedures")
    .innerJoin("apps", (join) =>
      join
        .onRef("apps.id", "=", "app_procedures.app_id")
        .onRef("apps.live_deployment_id", "=", "app_procedures.deployment_id"),
    )
    .select(COLUMNS)
    .select("app_procedures.index_id as indexId")
    .where("apps.org_id", "=", orgId)
    .where(isLive)
    .execute();
  return rows as (LiveProcedure & { indexId: number })[];
}

/** Reads the ids in the search index of the procedures of one live app; none for an app that the organization does not have. */
export async function readIndexIds(db: Db, orgId: string, slug: string): Promise<Set<number>> {
  const rows = await db
    .selectFrom("apps")
    .innerJoin("app_procedures", "app_procedures.deployment_id", "apps.live_deployment_id")
    .select("app_procedures.index_id as indexId")
    .where("apps.org_id", "=", orgId)
    .where("apps.slug", "=", slug)
    .where("app_procedures.org_id", "=", orgId)
    .where(isLive)
    .execute();
  return new Set(rows.flatMap(({ indexId }) => indexId ?? []));
}

/** Reads the names of the procedures of live apps, of each app at most `limit`; none of an organization without direct tools. */
export async function readNames(
  db: Db,
  orgId: string,
  { appIds, limit }: { appIds: readonly string[]; limit: number },
): Promise<NamedProcedure[]> {
  return await db
    .selectFrom("apps")
    .innerJoinLateral(
      ({ selectFrom }) =>
        selectFrom("app_procedures")
          .select("app_procedures.name")
          .whereRef("app_procedures.deployment_id", "=", "apps.live_deployment_id")
          .where("app_procedures.org_id", "=", orgId)
          .orderBy("app_procedures.name")
          .limit(limit)
          .as("procedure"),
      (join) => join.onTrue(),
    )
    .innerJoin("organizations", "organizations.id", "apps.org_id")
    .select(["apps.id as appId", "apps.slug", "procedure.name"])
    .where("organizations.direct_tools", "=", "all")
    .where("apps.org_id", "=", orgId)
    .where("apps.id", "in", appIds)
    .where(isLive)
    .execute();
}

/**
 * Lists the procedures of the organization's live apps, by slug, then by name. Their names, descriptions and schemas come
 * from the apps and are untrusted.
 */
export async function listProcedures(
  db: Db,
  orgId: string,
): Promise<Versioned<LiveProcedure[]> & { directTools: DirectTools }> {
  const version = selectProcedureVersion(db).where("org_id", "=", orgId);
  const rows = await db
    .selectFrom("apps")
    // Both tables are filtered by organization, so that a wrong row can never appear in another organization.
    .leftJoin("app_procedures", (join) =>
      join
        .onRef("app_procedures.deployment_id", "=", "apps.live_deployment_id")
        .on("app_procedures.org_id", "=", orgId),
    )
    .innerJoin("organizations", "organizations.id", "apps.org_id")
    .select(COLUMNS)
    .select([version.as("version"), "organizations.direct_tools as directTools"])
    .where("apps.org_id", "=", orgId)
    .where(isLive)
    .orderBy("apps.slug")
    .orderBy("app_procedures.name")
    .execute();
  const value = rows.flatMap(({ version: _version, directTools: _directTools, ...row }) =>
    row.name === null ? [] : [row as LiveProcedure],
  );
  const [first] = rows;
  return { version: first?.version ?? NO_LIVE_APPS, value, directTools: first?.directTools ?? "all" };
}
