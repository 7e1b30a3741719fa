import { appNotFound } from "../apps/get-app.ts";
import type { Db } from "../database-types.ts";
import type { AppDatabases } from "../ports/app-databases.ts";
import type { StoredApp } from "../ports/app-storage.ts";
import type { Counter } from "../ports/counter.ts";
import { limitDatabaseReads } from "../rate-limits/limit-database-reads.ts";
import type { Caller } from "../shared/caller.ts";
import type { FairQueue } from "../shared/fair-queue.ts";

export interface ReadDatabaseDeps {
  db: Db;
  counter: Counter;
  appDatabases: AppDatabases;
  /** The reads of databases that run and wait. */
  databaseReads: FairQueue;
}

/**
 * Reads a database of an app in its turn.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app, `rate_limited`, `unavailable` when too many reads wait,
 *   and what `read` throws
 */
export async function readDatabase<T>(
  { db, counter, databaseReads }: ReadDatabaseDeps,
  { orgId }: Caller,
  id: string,
  read: (app: StoredApp) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const app = await db
    .selectFrom("apps")
    .select(["id as appId", "slug"])
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  if (app === undefined) throw appNotFound();
  await limitDatabaseReads(counter, orgId);
  return databaseReads.run(orgId, () => read(app), signal);
}
