import { randomBytes, randomUUID } from "node:crypto";
import pg from "pg";
import { TRIAL_PREFIX } from "../../../../domain/ports/sql-databases.ts";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import { KeyedLock } from "../../../../domain/shared/keyed-lock.ts";
import type { PostgresDatabase, PostgresServer, TemporaryDatabases } from "../../../ports/postgres.ts";
import { BOUND_ADVISORY_LOCKS } from "./bound-advisory-locks.ts";
import { type DatabaseLogin, loginTo } from "./database-login.ts";
import { CONNECTIONS_PER_APP, PostgresWatchdog, type WatchdogLog } from "./postgres-watchdog.ts";
import { createReader, grantReading, readerOf } from "./reader-role.ts";
import { scramVerifier } from "./scram-verifier.ts";
import { withinSize } from "./within-size.ts";

export interface AppPostgresOptions {
  /** Starts the server, or connects to it. Called when the first app needs it. */
  open: () => Promise<PostgresServer>;
  /** Whether the server has ever been opened. Without it, there are no databases. */
  exists: () => boolean;
  /** Whether other processes of the installation use the server too, so that trials of another one may be running. */
  isShared?: boolean;
  log: WatchdogLog;
}

/** Changes with what `createDatabase` does. A database of an earlier version gets the rest when it is opened. */
const SETUP_VERSION = 1;

/** The service's own table, in a database to which no app can connect. */
const SETUP = `
  select pg_advisory_xact_lock(7240118213);
  revoke connect, temporary on database postgres, template1 from public;
  create schema if not exists service;
  create table if not exists service.app_databases (
    database_id text primary key,
    name text not null unique,
    password text not null,
    setup_version integer not null default 0
  );
  alter table service.app_databases add column if not exists setup_version integer not null default 0;
  alter table service.app_databases add column if not exists created_at timestamptz not null default now();
`;

/** On a shared server, a trial that is older has ended: a build takes less. */
const MAX_TRIAL_AGE = "2 hours";

interface DatabaseRow {
  database_id: string;
  name: string;
  password: string;
  setup_version: number;
}

interface OpenServer {
  server: PostgresServer;
  pool: pg.Pool;
  watchdog: PostgresWatchdog;
}

/**
 * The PostgreSQL databases of Node servers. Each has a random name, and a role of the same name that can connect to it only. The
 * server is opened when the first app needs it.
 */
export class AppPostgres implements TemporaryDatabases, AsyncDisposable {
  readonly #options: AppPostgresOptions;
  readonly #locks = new KeyedLock();
  /** The passwords of the roles that read databases, by the names of the databases. */
  readonly #readers = new Map<string, string>();
  #opening: Promise<OpenServer> | null = null;

  constructor(options: AppPostgresOptions) {
    this.#options = options;
  }

  /** Returns the database with an id, which is created if it does not exist. Safe to repeat after a crash. */
  async open(databaseId: string): Promise<PostgresDatabase> {
    const { pool, server } = await this.#open();
    const row = await this.#locks.run([databaseId], async () => {
      const found = (await findRow(pool, databaseId)) ?? (await insertRow(pool, databaseId));
      if (found.setup_version !== SETUP_VERSION) await createDatabase(pool, server.url, found);
      return found;
    });
    return { name: row.name, password: row.password, address: server.address };
  }

  async openTemporary(): Promise<PostgresDatabase & AsyncDisposable> {
    const id = `${TRIAL_PREFIX}${randomUUID()}`;
    return { ...(await this.open(id)), [Symbol.asyncDispose]: () => this.remove(id) };
  }

  /** Removes the database with its role. Succeeds if it does not exist. */
  async remove(databaseId: string): Promise<void> {
    if (!this.#options.exists()) return;
    const { pool, server } = await this.#open();
    await this.#locks.run([databaseId], async () => {
      const row = await findRow(pool, databaseId);
      if (row === null) return;
      await dropDatabase(pool, server.url, row);
      this.#readers.delete(row.name);
    });
  }

  /** The ids of all databases, including those whose creation was interrupted. */
  async list(): Promise<string[]> {
    if (!this.#options.exists()) return [];
    const { pool } = await this.#open();
    const { rows } = await pool.query<DatabaseRow>("select database_id from service.app_databases");
    return rows.map((row) => row.database_id);
  }

  /** How many bytes a database occupies; 0 if it does not exist. */
  async measure(databaseId: string): Promise<number> {
    if (!this.#options.exists()) return 0;
    const { pool } = await this.#open();
    const row = await findRow(pool, databaseId);
    if (row === null) return 0;
    const select = "select pg_database_size(oid) as bytes from pg_database where datname = $1";
    const { rows } = await pool.query<{ bytes: string }>(select, [row.name]);
    return Number(rows[0]?.bytes ?? 0);
  }

  /** Returns how to read a database, also what was created since the last call; `null` if the database does not exist. */
  async openReader(databaseId: string): Promise<DatabaseLogin | null> {
    if (!this.#options.exists()) return null;
    const { pool, server } = await this.#open();
    return this.#locks.run([databaseId], async () => {
      const row = await findRow(pool, databaseId);
      if (row === null) return null;
      if (row.setup_version !== SETUP_VERSION) await createDatabase(pool, server.url, row);
      const { name } = row;
      const password = this.#readers.get(name) ?? (await createReader(pool, name));
      this.#readers.set(name, password);
      await inDatabase(server.url, name, (client) => client.query(grantReading(name)));
      return loginTo({ pool, server }, name, { role: readerOf(name), password });
    });
  }

  /** As `openReader`, for work that takes long. */
  async openExporter(databaseId: string): Promise<(DatabaseLogin & Disposable) | null> {
    const reader = await this.openReader(databaseId);
    if (reader === null) return null;
    const work = (await this.#open()).watchdog.permitLongWork(readerOf(reader.name));
    return { ...reader, [Symbol.dispose]: () => work[Symbol.dispose]() };
  }

  /**
   * Replaces a database by an empty one, and fills it as the role of the app. Safe to repeat.
   *
   * @throws {ServiceError} `plan_limit` when it becomes too large; `invalid` when the watchdog has ended the work
   */
  async replace(
    databaseId: string,
    { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
    fill: (database: DatabaseLogin, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    await this.remove(databaseId);
    const { name, password } = await this.open(databaseId);
    const opened = await this.#open();
    using work = opened.watchdog.permitLongWork(name);
    const database = loginTo(opened, name, { role: name, password });
    const measure = () => this.measure(databaseId);
    try {
      await withinSize({ maxBytes, measure, signal }, (bounded) => fill(database, bounded));
    } catch (error) {
      if (work.reason === null) throw error;
      throw new ServiceError("invalid", `file: the database exceeds a limit while it is restored: ${work.reason}.`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await this.#opening?.catch(() => null);
    if (!opened) return;
    await opened.watchdog.stop();
    await opened.pool.end();
    await opened.server[Symbol.asyncDispose]();
  }

  /** A failed attempt is not remembered: the next app tries again. */
  #open(): Promise<OpenServer> {
    this.#opening ??= this.#openServer().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async #openServer(): Promise<OpenServer> {
    const { open, log } = this.#options;
    await using opening = new AsyncDisposableStack();
    const server = opening.use(await open());
    const pool = opening.adopt(new pg.Pool({ connectionString: server.url, max: 4 }), (it) => it.end());
    // A connection that ends while nobody uses it. The pool opens another one.
    pool.on("error", () => undefined);
    await pool.query(SETUP);
    // Trials end with the service.
    const { rows } = await pool.query<DatabaseRow>(
      "select * from service.app_databases where starts_with(database_id, $1) and created_at <= now() - $2::interval",
      [TRIAL_PREFIX, this.#options.isShared === true ? MAX_TRIAL_AGE : "0 seconds"],
    );
    for (const row of rows) await dropDatabase(pool, server.url, row);
    const watchdog = new PostgresWatchdog(server.url, { measuresMemory: server.isLocal, log });
    opening.move();
    return { server, pool, watchdog };
  }
}

async function findRow(pool: pg.Pool, databaseId: string): Promise<DatabaseRow | null> {
  const { rows } = await pool.query<DatabaseRow>("select * from service.app_databases where database_id = $1", [
    databaseId,
  ]);
  return rows[0] ?? null;
}

/** The name is recorded before the database exists, so that a crash leaves nothing unknown. */
async function insertRow(pool: pg.Pool, databaseId: string): Promise<DatabaseRow> {
  const name = `app_${randomBytes(10).toString("hex")}`;
  const password = randomBytes(24).toString("hex");
  const insert = `insert into service.app_databases (database_id, name, password) values ($1, $2, $3)
    on conflict (database_id) do update set database_id = excluded.database_id returning *`;
  const { rows } = await pool.query<DatabaseRow>(insert, [databaseId, name, password]);
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL returned no row");
  return row;
}

const ROLE_OPTIONS = `login nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit ${CONNECTIONS_PER_APP}`;

/** Nobody can connect to a new database before its rights are complete. Safe to repeat, also for one that is in use. */
async function createDatabase(pool: pg.Pool, url: string, { database_id: id, name, password }: DatabaseRow) {
  const role = await pool.query("select from pg_roles where rolname = $1", [name]);
  const verifier = pg.escapeLiteral(scramVerifier(password));
  await pool.query(`${role.rowCount === 0 ? "create" : "alter"} role "${name}" ${ROLE_OPTIONS} password ${verifier}`);
  const database = await pool.query("select from pg_database where datname = $1", [name]);
  // The collation of template0 sorts by code point, so it does not depend on the machine.
  if (database.rowCount === 0)
    await pool.query(`create database "${name}" template template0 encoding 'UTF8' allow_connections false`);
  await pool.query(`revoke all on database "${name}" from public`);
  await pool.query(`grant connect, create, temporary on database "${name}" to "${name}"`);
  await pool.query(`alter database "${name}" allow_connections true`);
  await inDatabase(url, name, async (client) => {
    await client.query(`alter schema public owner to "${name}"`);
    await client.query(BOUND_ADVISORY_LOCKS);
  });
  const complete = "update service.app_databases set setup_version = $2 where database_id = $1";
  await pool.query(complete, [id, SETUP_VERSION]);
}

async function dropDatabase(pool: pg.Pool, url: string, { database_id: id, name }: DatabaseRow): Promise<void> {
  await pool.query(`drop database if exists "${name}" with (force)`);
  for (const role of [readerOf(name), name]) {
    await revokeGrants(pool, url, role);
    await pool.query(`drop role if exists "${role}"`);
  }
  await pool.query("delete from service.app_databases where database_id = $1", [id]);
}

/** Other roles may have granted rights in their own databases to this one, which could then not be removed. */
async function revokeGrants(pool: pg.Pool, url: string, name: string): Promise<void> {
  const select = `select distinct datname from pg_shdepend
    join pg_database on pg_database.oid = dbid
    where refclassid = 'pg_authid'::regclass and refobjid = (select oid from pg_roles where rolname = $1)`;
  const { rows } = await pool.query<{ datname: string }>(select, [name]);
  for (const { datname } of rows) await inDatabase(url, datname, (client) => client.query(`drop owned by "${name}"`));
}

/** Nothing that an app has created in its database has a name that a statement of the service could mean. */
const ONLY_SYSTEM_NAMES = "-c search_path=pg_catalog";

async function inDatabase(url: string, name: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const target = new URL(url);
  target.pathname = `/${encodeURIComponent(name)}`;
  const client = new pg.Client({ connectionString: target.href, options: ONLY_SYSTEM_NAMES });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
