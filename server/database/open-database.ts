import { FolderInUse } from "../files/folder-lock.ts";
import { toDatabaseUnavailable } from "./database-unavailable.ts";
import { databaseFolder, EmbeddedPostgres, type ServerLog } from "./embedded/embedded-postgres.ts";
import { migrate } from "./migrate.ts";
import { openOrm, type Orm } from "./orm.ts";

export interface Database extends AsyncDisposable {
  orm: Orm;
  /** A connection string for connections beside the ORM's. It works in this process only. */
  url: string;
  /** Whether this process has started the server, so every job and lease in it belongs to an earlier process. */
  isEmbedded: boolean;
}

export interface DatabaseConfig {
  databaseUrl: string | null;
  dataDirectory: string;
}

/**
 * Opens the database with every migration applied: the one at `databaseUrl`, or without one an embedded PostgreSQL in the
 * data folder.
 *
 * @param embedded - the embedded PostgreSQL, if its start has begun already
 * @throws {FolderInUse} when another process has started the embedded database
 * @throws {DatabaseUnavailable} when no connection can be made, or the embedded database cannot be started
 */
export async function openDatabase(
  config: DatabaseConfig,
  log: ServerLog,
  embedded?: Promise<EmbeddedPostgres>,
): Promise<Database> {
  if (config.databaseUrl === null)
    return await openEmbedded(embedded ?? EmbeddedPostgres.start(databaseFolder(config.dataDirectory), log));
  const orm = await openMigrated(config.databaseUrl, "DATABASE_URL points to a database that cannot be used");
  return { orm, url: config.databaseUrl, isEmbedded: false, [Symbol.asyncDispose]: () => orm.close() };
}

/**
 * Opens the same database for a program that may run beside the service: the embedded PostgreSQL of the running service
 * if there is one, otherwise the database that `openDatabase` opens.
 */
export async function openDatabaseBesideService(config: DatabaseConfig, log: ServerLog): Promise<Database> {
  try {
    return await openDatabase(config, log);
  } catch (error) {
    if (!(error instanceof FolderInUse) || config.databaseUrl !== null) throw error;
    return await connectToEmbedded(databaseFolder(config.dataDirectory));
  }
}

async function openEmbedded(starting: Promise<EmbeddedPostgres>): Promise<Database> {
  await using opening = new AsyncDisposableStack();
  const server = opening.use(await starting);
  const orm = opening.adopt(await openMigrated(server.url, EMBEDDED_FAILURE), (opened) => opened.close());
  const opened = opening.move();
  return { orm, url: server.url, isEmbedded: true, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function connectToEmbedded(folder: string): Promise<Database> {
  await using opening = new AsyncDisposableStack();
  const server = opening.adopt(EmbeddedPostgres.connect(folder), ({ release }) => release());
  const orm = opening.adopt(await openMigrated(server.url, EMBEDDED_FAILURE), (opened) => opened.close());
  const opened = opening.move();
  return { orm, url: server.url, isEmbedded: false, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const EMBEDDED_FAILURE = "The embedded database of the running service cannot be used; try again";

async function openMigrated(url: string, failure: string): Promise<Orm> {
  const orm = openOrm(url);
  try {
    await checkConnection(orm, failure);
    await migrate(orm);
    return orm;
  } catch (error) {
    await orm.close();
    throw error;
  }
}

async function checkConnection(orm: Orm, failure: string): Promise<void> {
  try {
    await orm.em.fork().execute("select 1");
  } catch (cause) {
    throw toDatabaseUnavailable(failure, cause);
  }
}
