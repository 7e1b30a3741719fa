import type { Caller } from "../shared/caller.ts";
import { parseCursor } from "../shared/keyset-cursor.ts";
import type { Db } from "../database-types.ts";
import { overviewsAfter } from "./app-list-queries.ts";
import { type AppPage, pageOf } from "./app-page.ts";
import type { AppListCache } from "./app-list-cache.ts";

export interface BrowseDeps {
  db: Db;
  appListCache: AppListCache;
  urlOf(slug: string): string;
}

/**
 * The organization's apps a page at a time, newest first, without their tokens: for agents, whose context is no place
 * for a secret. A page ends after `limit` apps, or before it gets too long. Apps that come or go between two pages are
 * neither repeated nor make others be left out.
 *
 * @throws {ServiceError} `invalid` for a cursor that no page gave out
 */
export async function browseApps(
  { db, appListCache, urlOf }: BrowseDeps,
  { orgId }: Caller,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<AppPage> {
  if (cursor === undefined) return appListCache.of(orgId, limit);
  const from = { position: parseCursor(cursor), count: limit + 1 };
  return pageOf(await overviewsAfter(db, orgId, from), { limit, urlOf });
}
