import type { Caller } from "../shared/caller.ts";
import type { Db } from "../database-types.ts";
import { decodeCursor, isAfterCursor } from "../shared/keyset-cursor.ts";
import { type AppPage, createAppPage, type OverviewRow } from "./app-page.ts";
import type { AppStatus } from "./app-status.ts";
import { SUMMARY_COLUMNS } from "./app-view.ts";

export interface BrowseAppsDeps {
  db: Db;
  urlOf(slug: string): string;
}

export interface PageRequest {
  /** The maximum number of apps. */
  limit: number;
  /** The `next_cursor` of an earlier page; without it, the first page is returned. */
  cursor?: string | undefined;
}

/**
 * Returns one page of the organization's apps, newest first. The page has no app tokens: it is for agents, and the
 * context of an agent must not contain secrets. It ends after `limit` apps, or earlier at the size limit of a response.
 * If apps are created or deleted between two pages, no other app is repeated or left out.
 *
 * @throws {ServiceError} `invalid` for a cursor that this service did not return
 */
export async function browseApps(
  { db, urlOf }: BrowseAppsDeps,
  { orgId }: Caller,
  { limit, cursor }: PageRequest,
): Promise<AppPage> {
  let query = db
    .selectFrom("apps")
    .select(SUMMARY_COLUMNS)
    .select(({ selectFrom }) =>
      selectFrom("app_procedures")
        .select(({ fn }) => fn.countAll().as("procedure_count"))
        .whereRef("app_procedures.deployment_id", "=", "apps.live_deployment_id")
        .where("apps.status", "<>", "deleting" satisfies AppStatus)
        .as("procedure_count"),
    )
    .where("org_id", "=", orgId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (cursor !== undefined) {
    const position = decodeCursor(cursor);
    query = query.where((builder) => isAfterCursor(builder, position));
  }
  const rows: OverviewRow[] = await query.execute();
  return createAppPage(rows, { limit, urlOf });
}
