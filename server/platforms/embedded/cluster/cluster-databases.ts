import type { Migration } from "../../../../domain/ports/bundler.ts";
import type { SqlDatabases } from "../../../../domain/ports/sql-databases.ts";
import { applyMigrations, MIGRATION_SCRIPT } from "../databases/apply-migration.ts";
import { isDatabaseId, isTrial, type StartDatabaseWorker } from "../databases/sql-databases.ts";
import type { AppPostgres } from "../postgres/app-postgres.ts";
import { DATA_PREFIX, DATABASES_PREFIX, dataPrefix } from "./bucket-layout.ts";
import { lostLeasesMs } from "./lost-members.ts";
import type { SharedBucket } from "./shared-bucket.ts";

interface ClusterSqlDatabasesOptions {
  bucket: SharedBucket;
  startWorker: StartDatabaseWorker;
  /** Where Node servers may have databases with the same ids. */
  postgres: Pick<AppPostgres, "remove" | "list">;
}

/** D1 databases in the bucket, as durable objects of the clusters of apps. Apps that run keep them open meanwhile. */
export class ClusterSqlDatabases implements SqlDatabases {
  readonly #options: ClusterSqlDatabasesOptions;

  constructor(options: ClusterSqlDatabasesOptions) {
    this.#options = options;
  }

  async create(databaseId: string): Promise<void> {
    await this.#options.bucket.write(markerKey(databaseId), Buffer.alloc(0));
  }

  async migrate(databaseId: string, migrations: readonly Migration[], signal: AbortSignal): Promise<void> {
    markerKey(databaseId);
    if (migrations.length === 0) return;
    try {
      await this.#migrate(databaseId, migrations, signal);
    } catch (error) {
      // Each migration is applied once, so all of them can be repeated.
      if ((await lostLeasesMs(this.#options.bucket, databaseId)) === 0) throw error;
      await this.#migrate(databaseId, migrations, signal);
    }
  }

  async #migrate(databaseId: string, migrations: readonly Migration[], signal: AbortSignal): Promise<void> {
    await using worker = await this.#options.startWorker(MIGRATION_SCRIPT, { id: databaseId, directory: null }, signal);
    await applyMigrations(worker.port, migrations, signal);
  }

  async remove(databaseId: string): Promise<void> {
    const { bucket, postgres } = this.#options;
    const marker = markerKey(databaseId);
    await postgres.remove(databaseId);
    await bucket.removeAll(dataPrefix(databaseId));
    await bucket.remove(marker);
  }

  /** Data without a marker belongs to a removed database too: a process that ended late may have written it. */
  async list(): Promise<string[]> {
    const { bucket, postgres } = this.#options;
    const ids = new Set(await postgres.list());
    for await (const { key } of bucket.list(DATABASES_PREFIX)) ids.add(key.slice(DATABASES_PREFIX.length));
    for (const folder of await bucket.listFolders(DATA_PREFIX)) ids.add(folder);
    return [...ids].filter((id) => isDatabaseId(id) && !isTrial(id));
  }
}

/** @throws {TypeError} for an invalid id */
function markerKey(databaseId: string): string {
  if (!isDatabaseId(databaseId)) throw new TypeError(`Invalid database id: ${JSON.stringify(databaseId)}`);
  return `${DATABASES_PREFIX}${databaseId}`;
}
