import type { Migration } from "./bundler.ts";

/** The database rejected a statement of an app's migration. `message` contains the migration's name and the reason. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";
}

/** The ids of databases of trials start with it. `list` leaves them out. */
export const TRIAL_PREFIX = "trial-";

/** The SQL databases of apps, one for each app. The caller chooses the id and records it before it calls `create`. */
export interface SqlDatabases {
  /** Creates an empty database. Succeeds if it exists already, and keeps its content. */
  create(databaseId: string): Promise<void>;
  /**
   * Applies the migrations that were not applied to this database before, in order, each atomically. Safe to repeat.
   *
   * @throws {MigrationFailed}
   */
  migrate(databaseId: string, migrations: readonly Migration[], signal: AbortSignal): Promise<void>;
  /** Removes the database with its content. Succeeds if it does not exist. */
  remove(databaseId: string): Promise<void>;
  /** Lists the ids of all databases, to find orphaned ones. */
  list(): Promise<string[]>;
}
