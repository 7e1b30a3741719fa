import path from "node:path";
import type { SqlDatabases } from "../../../domain/ports/sql-databases.ts";
import { lockFolder } from "../../files/folder-lock.ts";
import type { IsolatedRuntime } from "../../ports/isolated-runtime.ts";
import type { TemporaryDatabases } from "../../ports/postgres.ts";
import { databaseWorkerStarter } from "./databases/database-worker.ts";
import { databaseDirectory, EmbeddedSqlDatabases } from "./databases/sql-databases.ts";
import { EmbeddedIsolatedRuntime } from "./isolated-runtime.ts";
import { createLaunchers, createUnpack, LAUNCHER_LIMITS, type LauncherOptions } from "./launchers.ts";
import { AppPostgres, type AppPostgresOptions } from "./postgres/app-postgres.ts";

export interface IsolatedPlatformOptions extends LauncherOptions {
  /** Only one process may use the folder `edge` below. */
  dataDirectory: string;
  postgres: AppPostgresOptions;
}

/** What builds need of an edge platform: apps run beside their deployments, with databases that end with them. */
export interface IsolatedPlatform extends AsyncDisposable {
  isolatedRuntime: IsolatedRuntime;
  trialDatabases: SqlDatabases;
  temporaryDatabases: TemporaryDatabases;
}

/**
 * Opens the isolated runtime of a process whose apps run in another process.
 *
 * @throws {FolderInUse}
 */
export async function openIsolatedPlatform(options: IsolatedPlatformOptions): Promise<IsolatedPlatform> {
  await using opening = new AsyncDisposableStack();
  const root = path.join(options.dataDirectory, "edge");
  opening.adopt(lockFolder(root), (lock) => lock.release());
  const launchRoot = path.join(root, "run");
  const databaseRoot = path.join(root, "databases");
  const launchers = createLaunchers(launchRoot, options, LAUNCHER_LIMITS);
  const postgres = opening.use(new AppPostgres(options.postgres));
  const databases = new EmbeddedSqlDatabases({
    root: databaseRoot,
    // No app has a database of a trial open.
    access: { withDatabaseClosed: (_databaseId, work) => work() },
    startWorker: databaseWorkerStarter(launchers.launcher),
    postgres,
  });
  await Promise.all([launchers.launcher.open(), databases.open()]);
  const isolatedRuntime = new EmbeddedIsolatedRuntime({
    ...launchers,
    unpack: createUnpack(options.nodeServers.sandbox),
    postgres,
    launchRoot,
    databaseDirectory: (id) => databaseDirectory(databaseRoot, id),
  });
  const opened = opening.move();
  return {
    isolatedRuntime,
    trialDatabases: databases,
    temporaryDatabases: postgres,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
