import type { QueryResult } from "../ports/app-databases.ts";
import type { Caller } from "../shared/caller.ts";
import { readDatabase, type ReadDatabaseDeps } from "./read-database.ts";

export interface QueryDatabase {
  /** The id of the app. */
  id: string;
  sql: string;
  /** How many rows are returned at most; 100 without it. */
  limit?: number | undefined;
  /** One of the names of its databases; without it, the one that it uses by default. */
  database?: string | undefined;
}

const DEFAULT_LIMIT = 100;

/**
 * Runs one statement that only reads on a database of an app. The values of the result are data of the app.
 *
 * @throws {ServiceError} `invalid` for a statement that is refused or fails, `conflict` when there is no database that can be read,
 *   and as `readDatabase`
 */
export async function queryDatabase(
  deps: ReadDatabaseDeps,
  caller: Caller,
  { id, sql, limit = DEFAULT_LIMIT, database }: QueryDatabase,
  signal: AbortSignal,
): Promise<QueryResult> {
  const run = deps.appDatabases.query.bind(deps.appDatabases);
  return readDatabase(deps, caller, id, (app) => run(app, database ?? null, { sql, limit }, signal), signal);
}
