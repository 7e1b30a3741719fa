import { AsyncLocalStorage } from "node:async_hooks";
import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { queryBuilderOf } from "../database-types.ts";
import { acquireAdvisoryLock } from "./advisory-lock.ts";

/** What a database connection is needed for. The connection pool shares its connections by it. */
export interface ConnectionUse {
  /** The organization that requested the work; `null` for work that none requested. */
  orgId: string | null;
  /** The names of the locks of a transaction; `null` for a statement without a transaction. */
  locks: readonly string[] | null;
}

const NO_USE: ConnectionUse = { orgId: null, locks: null };

const current = new AsyncLocalStorage<ConnectionUse>();

/** Returns what the calling code needs a connection for. */
export function currentConnectionUse(): ConnectionUse {
  return current.getStore() ?? NO_USE;
}

/** Runs `work`, whose connections count as those of the organization. */
export function runForOrganization<T>(orgId: string, work: () => T): T {
  return current.run({ orgId, locks: null }, work);
}

/**
 * Runs `work` in a transaction of its own, which is rolled back when `work` fails. Use only `em` inside, and no I/O through a
 * port.
 *
 * @param root - any entity manager of the database
 */
export function inTransaction<T>(root: EntityManager, work: (em: SqlEntityManager) => Promise<T>): Promise<T> {
  return inLockedTransaction(root, [], work);
}

/**
 * Runs `work` as `inTransaction` does, while the transaction holds advisory locks. They block only transactions with the same
 * names, in all processes that use the database. Waiting for another transaction of this process takes no connection.
 *
 * @param locks - the names of the locks
 */
export function inLockedTransaction<T>(
  root: EntityManager,
  locks: readonly string[],
  work: (em: SqlEntityManager) => Promise<T>,
): Promise<T> {
  const { orgId } = currentConnectionUse();
  // In one order everywhere, so that transactions with several locks in common cannot deadlock.
  const names = locks.toSorted();
  return current.run({ orgId, locks: names }, () =>
    (root as SqlEntityManager).fork().transactional(async (em) => {
      for (const name of names) await acquireAdvisoryLock(queryBuilderOf(em), name);
      return current.run({ orgId, locks: null }, () => work(em));
    }),
  );
}
