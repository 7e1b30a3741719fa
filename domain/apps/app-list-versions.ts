import DataLoader from "dataloader";
import type { ExpressionBuilder } from "kysely";
import type { Db, DatabaseTables } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import type { PageRequest } from "./browse-apps.ts";

export interface AppListDeps {
  /** Tells whether the first page of an app list is still current. */
  appListVersions: AppListVersions;
}

interface VersionRequest {
  orgId: string;
  /** How many of the organization's newest apps the version covers. */
  count: number;
}

/** The version of an organization without apps. */
const NO_APPS = "none";

/**
 * Reads the versions of app lists. A version changes whenever one of the newest apps of the organization is created,
 * changed or deleted. Concurrent calls share one indexed query.
 */
export class AppListVersions {
  readonly #loader: DataLoader<VersionRequest, string>;

  constructor(db: Db) {
    // Nothing is cached, and a batch is closed before its query starts: no call gets a version that was read before it.
    this.#loader = new DataLoader((requests) => readVersions(db, requests), {
      cache: false,
      batchScheduleFn: setImmediate,
    });
  }

  read(orgId: string, count: number): Promise<string> {
    return this.#loader.load({ orgId, count });
  }
}

/**
 * Reads the version of a page of `browseApps`. Only the first page has a version; the function returns `null` for any
 * other.
 */
export function readPageVersion(
  { appListVersions }: AppListDeps,
  { orgId }: Caller,
  { limit, cursor }: PageRequest,
): Promise<string> | null {
  // A page shows whether another one follows, so its version covers one more app.
  return cursor === undefined ? appListVersions.read(orgId, limit + 1) : null;
}

async function readVersions(db: Db, requests: readonly VersionRequest[]): Promise<string[]> {
  const batches = [...Map.groupBy(requests, ({ count }) => count)].map(async ([count, group]) => {
    const orgIds = [...new Set(group.map(({ orgId }) => orgId))];
    return [count, await queryVersions(db, orgIds, count)] as const;
  });
  const versionsByCount = new Map(await Promise.all(batches));
  return requests.map(({ orgId, count }) => versionsByCount.get(count)?.get(orgId) ?? NO_APPS);
}

async function queryVersions(db: Db, orgIds: readonly string[], count: number): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom("organizations")
    .innerJoinLateral(
      () =>
        db
          .selectFrom("apps")
          .select(rowVersion)
          // The types of a subquery do not include the tables of the outer query.
          .whereRef("apps.org_id", "=", "organizations.id" as never)
          .orderBy("created_at", "desc")
          .orderBy("id", "desc")
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

/**
 * A hash of an app's id and of the transaction that wrote its row last (`xmin`), which differs after every change. The
 * procedures of a live app change only together with its row. Two changes within a millisecond would have the same
 * timestamp.
 */
function rowVersion({ fn, cast, ref }: ExpressionBuilder<DatabaseTables, "apps">) {
  // The types of the tables do not include system columns.
  const xmin = ref("apps.xmin" as "apps.slug");
  return fn<string>("uuid_hash_extended", ["apps.id", cast(cast(xmin, "text"), "bigint")]).as("row_version");
}
