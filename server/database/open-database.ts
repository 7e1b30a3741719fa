import { FolderInUse } from "../files/folder-lock.ts";
import { toDatabaseUnavailable } from "./database-unavailable.ts";
import { databaseFolder, EmbeddedPostgres, type ServerLog, settingsOfPool } from "./embedded/embedded-postgres.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { migrate } from "./migrate.ts";
import { DEFAULT_POOL_SIZE, openOrm, type Orm } from "./orm.ts";

export interface Database extends AsyncDisposable {
  orm: Orm;
  /** Shares the connections of the ORM. */
  connections: ConnectionPool;
  /** A connection string for connections beside the ORM's. It works in this process only. */
  url: string;
  /** Whether this process has started the server, so every job and lease in it belongs to an earlier process. */
  isEmbedded: boolean;
}

export interface DatabaseConfig {
  databaseUrl: string | null;
  dataDirectory: string;
  /** How many connections the ORM has, besides a few others of the process; by default `DEFAULT_POOL_SIZE`. */
  databasePoolSize?: number;
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
  if (config.databaseUrl === null) return await openEmbedded(embedded ?? startEmbedded(config, log), config);
  const opened = await openMigrated(
    config,
    config.databaseUrl,
    "DATABASE_URL points to a database that cannot be used",
  );
  return { ...opened, url: config.databaseUrl, isEmbedded: false, [Symbol.asyncDispose]: () => opened.orm.close() };
}

function startEmbedded(
  { dataDirectory, databasePoolSize = DEFAULT_POOL_SIZE }: DatabaseConfig,
  log: ServerLog,
): Promise<EmbeddedPostgres> {
  return EmbeddedPostgres.start(databaseFolder(dataDirectory), log, { settings: settingsOfPool(databasePoolSize) });
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
    return await connectToEmbedded(config);
  }
}

async function openEmbedded(starting: Promise<EmbeddedPostgres>, config: DatabaseConfig): Promise<Database> {
  await using opening = new AsyncDisposableStack();
  const server = opening.use(await starting);
  const database = await openMigrated(config, server.url, EMBEDDED_FAILURE);
  opening.defer(() => database.orm.close());
  const opened = opening.move();
  return { ...database, url: server.url, isEmbedded: true, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function connectToEmbedded(config: DatabaseConfig): Promise<Database> {
  await using opening = new AsyncDisposableStack();
  const folder = databaseFolder(config.dataDirectory);
  const server = opening.adopt(EmbeddedPostgres.connect(folder), ({ release }) => release());
  const database = await openMigrated(config, server.url, EMBEDDED_FAILURE);
  opening.defer(() => database.orm.close());
  const opened = opening.move();
  return { ...database, url: server.url, isEmbedded: false, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const EMBEDDED_FAILURE = "The embedded database of the running service cannot be used; try again";

async function openMigrated(
  { databasePoolSize = DEFAULT_POOL_SIZE }: DatabaseConfig,
  url: string,
  failure: string,
): Promise<Pick<Database, "orm" | "connections">> {
  const connections = new ConnectionPool(databasePoolSize);
  const orm = openOrm(url, connections);
  try {
    await checkConnection(orm, failure);
    await migrate(orm);
    return { orm, connections };
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
