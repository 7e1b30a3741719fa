import { mkdir } from "node:fs/promises";
import path from "node:path";
import { lockFolder } from "../files/folder-lock.ts";
import { openOrm, type Orm } from "./orm.ts";

/** There is no database to work with at `DATABASE_URL`. `message` says why, and holds no password. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}

export interface Database extends AsyncDisposable {
  orm: Orm;
  /** Whether this process is the only one on the database, so nobody else can hold anything in it. */
  exclusive: boolean;
}

/**
 * Opens the configured database with every migration applied.
 *
 * @throws {FolderInUse} when another process has the embedded database open
 * @throws {DatabaseUnavailable} when Postgres cannot be reached, or refuses
 */
export async function openDatabase(config: { databaseUrl: string | null; dataDirectory: string }): Promise<Database> {
  if (config.databaseUrl !== null) {
    const orm = await migrated(await reached(await openOrm({ kind: "postgres", url: config.databaseUrl })), true);
    return { orm, exclusive: false, [Symbol.asyncDispose]: () => orm.close() };
  }
  const directory = path.join(config.dataDirectory, "database");
  const lock = lockFolder(directory);
  try {
    await mkdir(path.join(directory, "pglite"), { recursive: true, mode: 0o700 });
    const orm = await migrated(await openOrm({ kind: "embedded", directory: path.join(directory, "pglite") }), false);
    const close = () => orm.close().finally(() => lock.release());
    return { orm, exclusive: true, [Symbol.asyncDispose]: close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function reached(orm: Orm): Promise<Orm> {
  try {
    await orm.em.fork().execute("select 1");
    return orm;
  } catch (cause) {
    await orm.close();
    // A name with several addresses fails with an error for each, and no message of its own.
    const { message, code } = cause as NodeJS.ErrnoException;
    const reason = message === "" ? code : message;
    throw new DatabaseUnavailable(`DATABASE_URL names a database that cannot be used: ${reason}`, { cause });
  }
}

/** Any number that no other program on the database uses for an advisory lock. */
const MIGRATION_LOCK = 7_240_118_211;

async function migrated(orm: Orm, shared: boolean): Promise<Orm> {
  try {
    // Processes that start together on one server take turns; the embedded database has only this one.
    if (shared)
      await orm.em.fork().transactional(async (em) => {
        await em.execute(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
        await orm.migrator.up();
      });
    else await orm.migrator.up();
    return orm;
  } catch (error) {
    await orm.close();
    throw error;
  }
}
