import type { Db } from "../database-types.ts";

/**
 * Takes the lock with this name until the transaction of `db` ends. Only callers with the same name wait, in every process
 * on the database: no row and no table is locked.
 */
export async function acquireAdvisoryLock(db: Db, name: string): Promise<void> {
  await db
    .selectNoFrom(({ fn, val }) =>
      fn("pg_advisory_xact_lock", [fn("hashtextextended", [val(name), val(0)])]).as("locked"),
    )
    .execute();
}
