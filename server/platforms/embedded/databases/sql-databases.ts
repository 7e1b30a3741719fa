import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Migration } from "../../../../domain/ports/bundler.ts";
import { type SqlDatabases, TRIAL_PREFIX } from "../../../../domain/ports/sql-databases.ts";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { AppPostgres } from "../postgres/app-postgres.ts";
import { applyMigrations, MIGRATION_SCRIPT } from "./apply-migration.ts";

/** Controls which processes have an app's database open. */
export interface DatabaseAccess {
  /** Runs `work` while no process has the database open. No process can open it meanwhile. */
  withDatabaseClosed<T>(databaseId: string, work: () => Promise<T>): Promise<T>;
}

/** A worker that has one database open. */
export interface DatabaseWorker extends AsyncDisposable {
  /** Its port on 127.0.0.1. */
  port: number;
}

/** A database, and its folder if it is on this machine. */
export interface WorkerDatabase {
  id: string;
  directory: string | null;
}

/** Starts a worker that runs the given module. It has the database as `DB`, and no network. */
export type StartDatabaseWorker = (
  script: string,
  database: WorkerDatabase,
  signal: AbortSignal,
) => Promise<DatabaseWorker>;

export interface EmbeddedSqlDatabasesOptions {
  /** Contains one folder for each database, named by its id. */
  root: string;
  access: DatabaseAccess;
  startWorker: StartDatabaseWorker;
  /** Where Node servers may have databases with the same ids. */
  postgres: Pick<AppPostgres, "remove" | "list">;
  /** How long all migrations of one call may take. */
  migrationTimeoutMs?: number;
}

/**
 * D1 databases on this machine. They are SQLite files that an app's workerd opens, or a temporary one for migrations. A Node
 * server that uses PostgreSQL has a database there too, which is removed with this one.
 */
export class EmbeddedSqlDatabases implements SqlDatabases {
  readonly #root: string;
  readonly #access: DatabaseAccess;
  readonly #startWorker: StartDatabaseWorker;
  readonly #postgres: Pick<AppPostgres, "remove" | "list">;
  readonly #migrationTimeoutMs: number | undefined;

  constructor(options: EmbeddedSqlDatabasesOptions) {
    this.#root = options.root;
    this.#access = options.access;
    this.#startWorker = options.startWorker;
    this.#postgres = options.postgres;
    this.#migrationTimeoutMs = options.migrationTimeoutMs;
  }

  /** Completes removals, and ends trials, that an earlier process did not finish. */
  async open(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const leftovers = (await readdir(this.#root)).filter((name) => !isDatabaseId(name) || isTrial(name));
    await Promise.all(leftovers.map((name) => rm(path.join(this.#root, name), { recursive: true, force: true })));
  }

  async create(databaseId: string): Promise<void> {
    await mkdir(databaseDirectory(this.#root, databaseId), { recursive: true, mode: 0o700 });
  }

  async migrate(databaseId: string, migrations: readonly Migration[], signal: AbortSignal): Promise<void> {
    const directory = databaseDirectory(this.#root, databaseId);
    if (migrations.length === 0) return;
    await this.#access.withDatabaseClosed(databaseId, async () => {
      await using worker = await this.#startWorker(MIGRATION_SCRIPT, { id: databaseId, directory }, signal);
      await applyMigrations(worker.port, migrations, signal, this.#migrationTimeoutMs);
    });
  }

  async remove(databaseId: string): Promise<void> {
    const directory = databaseDirectory(this.#root, databaseId);
    await this.#access.withDatabaseClosed(databaseId, async () => {
      await this.#postgres.remove(databaseId);
      // The rename removes it from `list` in one step, even if a crash interrupts the deletion.
      const renamed = path.join(this.#root, `.${randomUUID()}`);
      await rename(directory, renamed).catch(nullIfMissing);
      await rm(renamed, { recursive: true, force: true });
    });
  }

  async list(): Promise<string[]> {
    const ids = new Set([...(await readdir(this.#root)), ...(await this.#postgres.list())]);
    return [...ids].filter((name) => isDatabaseId(name) && !isTrial(name));
  }
}

/**
 * The folder of one database.
 *
 * @throws {TypeError} for an invalid id
 */
export function databaseDirectory(root: string, databaseId: string): string {
  if (!isDatabaseId(databaseId)) throw new TypeError(`Invalid database id: ${JSON.stringify(databaseId)}`);
  return path.join(root, databaseId);
}

/** The database of a trial belongs to no app. It exists until the trial ends, or until the next start of the service. */
export function isTrial(databaseId: string): boolean {
  return databaseId.startsWith(TRIAL_PREFIX);
}

/** Ids become folder names. */
export function isDatabaseId(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(name);
}
