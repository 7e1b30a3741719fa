import type { Db } from "../database-types.ts";

/**
 * Acquires the lock with this name until the transaction of `db` ends. It blocks only callers with the same name, in
 * all processes that use the database. It locks no row and no table.
 */
export async function acquireAdvisoryLock(db: Db, name: string): Promise<void> {
  await db
    .selectNoFrom(({ fn, val }) =>
      fn("pg_advisory_xact_lock", [fn("hashtextextended", [val(name), val(0)])]).as("locked"),
    )
    .execute();
}
