import { AsyncLocalStorage } from "node:async_hooks";
import type { Kysely } from "kysely";
import type { Db } from "../../domain/database-types.ts";

const current = new AsyncLocalStorage<Db>();

/**
 * The transaction that better-auth has open around the code that asks, such as a hook; `undefined` outside of one. Inside,
 * nothing else may be asked: the embedded database has one connection.
 */
export function currentTransaction(): Db | undefined {
  return current.getStore();
}

/** Lets `currentTransaction` know of the transactions of `db`, which better-auth else keeps to itself. */
export function shareTransactions<T>(db: Kysely<T>): Kysely<T> {
  const open = db.transaction.bind(db);
  const withSchema = db.withSchema.bind(db);
  const transaction = () => {
    const opened = open();
    const execute = opened.execute.bind(opened);
    // Without the plugins that better-auth needs: our tables are in another schema than its own.
    opened.execute = (work) => execute((tx) => current.run(tx.withoutPlugins() as unknown as Db, () => work(tx)));
    return opened;
  };
  // better-auth works on the copy that is for its schema.
  return Object.assign(db, { transaction, withSchema: (name: string) => shareTransactions(withSchema(name)) });
}
