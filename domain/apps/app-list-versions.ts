import type { ExpressionBuilder } from "kysely";
import type { Versioned } from "../shared/versioned-cache.ts";
import type { CursorPosition } from "../shared/keyset-cursor.ts";
import type { Db, DatabaseTables } from "../database-types.ts";
import type { AppStatus } from "./app-status.ts";
import { SUMMARY_COLUMNS, type SummaryRow } from "./app-view.ts";

/** An app as a page for agents is made of it. */
export type OverviewRow = SummaryRow & { procedure_count: number | string | bigint | null };

/** The version of the first apps of an organization that has none. */
export const NO_APPS = "none";

/**
 * Over apps, a text that changes with any of them: the transaction that wrote a row last (`xmin`) is another with every
 * change. The procedures of a ready app change with its row only. Times would not tell two changes within a millisecond
 * apart.
 */
function rowVersion({ fn, cast, ref }: ExpressionBuilder<DatabaseTables, "apps">) {
  // A system column, which the types of the tables do not have.
  const xmin = ref("apps.xmin" as "apps.slug");
  return fn<string>("uuid_hash_extended", ["apps.id", cast(cast(xmin, "text"), "bigint")]).as("row_version");
}

/** The first `count` apps of an organization, newest first, each with the number of its procedures. */
export async function firstOverviews(db: Db, orgId: string, count: number): Promise<Versioned<OverviewRow[]>> {
  const rows = await db
    .selectFrom(overviews(db).select(rowVersion).where("org_id", "=", orgId).limit(count).as("app"))
    .selectAll()
    .select(({ fn }) => fn.sum<string>("row_version").over().as("version"))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return { version: rows[0]?.version ?? NO_APPS, value: rows };
}

/** The version of what {@link firstOverviews} finds, of many organizations from one query. */
export async function overviewVersions(db: Db, orgIds: readonly string[], count: number): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom("organizations")
    .innerJoinLateral(
      // A subquery beside its table, which the types of a query of its own know nothing of.
      () =>
        inOrder(db)
          .select(rowVersion)
          .whereRef("apps.org_id", "=", "organizations.id" as never)
          .limit(count)
          .as("app"),
      (join) => join.onTrue(),
    )
    .select(({ fn }) => ["organizations.id", fn.sum<string>("app.row_version").as("version")])
    .where("organizations.id", "in", orgIds)
    .groupBy("organizations.id")
    .execute();
  return new Map(rows.map(({ id, version }) => [id, version]));
}

/** The next `count` apps after a position. */
export async function overviewsAfter(
  db: Db,
  orgId: string,
  { position: { createdAt, id }, count }: { position: CursorPosition; count: number },
): Promise<OverviewRow[]> {
  const at = createdAt as never;
  return overviews(db)
    .where("org_id", "=", orgId)
    .where(({ or, and, eb }) => or([eb("created_at", "<", at), and([eb("created_at", "=", at), eb("id", "<", id)])]))
    .limit(count)
    .execute();
}

function inOrder(db: Db) {
  return db.selectFrom("apps").orderBy("created_at", "desc").orderBy("id", "desc");
}

function overviews(db: Db) {
  return inOrder(db)
    .select(SUMMARY_COLUMNS)
    .select(({ selectFrom }) =>
      selectFrom("app_procedures")
        .select(({ fn }) => fn.countAll().as("procedure_count"))
        .whereRef("app_procedures.app_id", "=", "apps.id")
        .where("apps.status", "=", "ready" satisfies AppStatus)
        .as("procedure_count"),
    );
}
