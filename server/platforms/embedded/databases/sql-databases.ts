import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Migration } from "../../../../domain/ports/bundler.ts";
import type { SqlDatabases } from "../../../../domain/ports/sql-databases.ts";
import { applyMigration, MIGRATOR } from "./sql-migrator.ts";

/** Whoever may have an app's database open. */
export interface DatabaseHolder {
  /** Runs `work` while no process has the database open, and none can open it. */
  withDatabaseAtRest<T>(databaseId: string, work: () => Promise<T>): Promise<T>;
}

/** A worker with one database, which nobody else has open. */
export interface DatabaseWorker extends AsyncDisposable {
  /** Where it listens on 127.0.0.1. */
  port: number;
}

/** Starts the given module as a worker that has the database as `DB` and reaches nothing else. */
export type StartDatabaseWorker = (
  script: string,
  database: { id: string; directory: string },
  signal: AbortSignal,
) => Promise<DatabaseWorker>;

const MIGRATE_TIMEOUT_MS = 5 * 60_000;

interface Parts {
  /** Holds one folder per database, named by its id. */
  root: string;
  holder: DatabaseHolder;
  startWorker: StartDatabaseWorker;
  /** How long all migrations of one call may take. */
  migrateTimeoutMs?: number;
}

/** D1 databases on this machine: SQLite files that the apps' own workerd opens, and a throwaway one for migrations. */
export class EmbeddedSqlDatabases implements SqlDatabases {
  readonly #root: string;
  readonly #holder: DatabaseHolder;
  readonly #startWorker: StartDatabaseWorker;
  readonly #migrateTimeoutMs: number;

  constructor({ root, holder, startWorker, migrateTimeoutMs = MIGRATE_TIMEOUT_MS }: Parts) {
    this.#root = root;
    this.#holder = holder;
    this.#startWorker = startWorker;
    this.#migrateTimeoutMs = migrateTimeoutMs;
  }

  /** Finishes what an earlier process was removing when it died. */
  async open(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const leftovers = (await readdir(this.#root)).filter((name) => !isDatabaseId(name));
    await Promise.all(leftovers.map((name) => rm(path.join(this.#root, name), { recursive: true, force: true })));
  }

  async create(databaseId: string): Promise<void> {
    await mkdir(databaseDirectory(this.#root, databaseId), { recursive: true, mode: 0o700 });
  }

  async migrate(databaseId: string, migrations: readonly Migration[], signal: AbortSignal): Promise<void> {
    const directory = databaseDirectory(this.#root, databaseId);
    if (migrations.length === 0) return;
    await this.#holder.withDatabaseAtRest(databaseId, async () => {
      await using migrator = await this.#startWorker(MIGRATOR, { id: databaseId, directory }, signal);
      // Many that are slow, each within its own bound, would keep a worker from all other builds.
      const deadline = Date.now() + this.#migrateTimeoutMs;
      for (const migration of migrations) await applyMigration(migrator.port, migration, deadline, signal);
    });
  }

  async remove(databaseId: string): Promise<void> {
    const directory = databaseDirectory(this.#root, databaseId);
    await this.#holder.withDatabaseAtRest(databaseId, async () => {
      // Out of sight in one step; a crash while taking it apart leaves nothing that `list` would name.
      const grave = path.join(this.#root, `.${randomUUID()}`);
      await rename(directory, grave).catch(ignoreAbsent);
      await rm(grave, { recursive: true, force: true });
    });
  }

  async list(): Promise<string[]> {
    return (await readdir(this.#root)).filter(isDatabaseId);
  }
}

/**
 * The folder of one database.
 *
 * @throws {TypeError} for an id that is no plain name
 */
export function databaseDirectory(root: string, databaseId: string): string {
  if (!isDatabaseId(databaseId)) throw new TypeError(`Not a database id: ${JSON.stringify(databaseId)}`);
  return path.join(root, databaseId);
}

function isDatabaseId(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(name);
}

function ignoreAbsent(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
