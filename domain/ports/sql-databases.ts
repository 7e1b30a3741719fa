import type { Migration } from "./bundler.ts";

/** A statement of an app's own migration was refused by its database. `message` names the migration and the reason. */
export class MigrationRefused extends Error {
  override readonly name = "MigrationRefused";
}

/** The SQL databases of apps, one each. Ids are chosen by the caller and recorded before `create` is called. */
export interface SqlDatabases {
  /** Creates an empty database. Succeeds when it exists already, and leaves its content alone. */
  create(databaseId: string): Promise<void>;
  /**
   * Applies the migrations that this database has not seen, in order, each atomically. Safe to repeat.
   *
   * @throws {MigrationRefused}
   */
  migrate(databaseId: string, migrations: readonly Migration[], signal: AbortSignal): Promise<void>;
  /** Removes the database with its content. Succeeds when there is nothing to remove. */
  remove(databaseId: string): Promise<void>;
  /** Every database there is, for the sweep. */
  list(): Promise<string[]>;
}
