import { AsyncLocalStorage } from "node:async_hooks";
import type { Kysely } from "kysely";
import type { Db } from "../../domain/database-types.ts";

const current = new AsyncLocalStorage<Db>();

/**
 * Returns the transaction that better-auth has open around the calling code, such as a database hook; `undefined` outside
 * of one. A hook that used another connection would not see the transaction's own rows, and could wait for its locks.
 */
export function currentTransaction(): Db | undefined {
  return current.getStore();
}

/** Makes the transactions of `db` available to `currentTransaction`. better-auth does not pass them to its hooks. */
export function shareTransactions<T>(db: Kysely<T>): Kysely<T> {
  const beginTransaction = db.transaction.bind(db);
  const withSchema = db.withSchema.bind(db);
  const transaction = () => {
    const builder = beginTransaction();
    const execute = builder.execute.bind(builder);
    // Without better-auth's plugins, which rewrite queries for the schema `auth`: most tables are in another schema.
    builder.execute = (work) => execute((tx) => current.run(tx.withoutPlugins() as unknown as Db, () => work(tx)));
    return builder;
  };
  // better-auth works on the copy that `withSchema` returns, so that copy shares its transactions too.
  return Object.assign(db, { transaction, withSchema: (name: string) => shareTransactions(withSchema(name)) });
}
