import type { Db } from "../database-types.ts";

/**
 * Makes whoever asks for the same name wait until the transaction of `db` ends. Nobody else waits: neither a row nor a
 * table is locked. Processes on one database share the names.
 */
export async function acquireAdvisoryLock(db: Db, name: string): Promise<void> {
  await db
    .selectNoFrom(({ fn, val }) =>
      fn("pg_advisory_xact_lock", [fn("hashtextextended", [val(name), val(0)])]).as("locked"),
    )
    .execute();
}
