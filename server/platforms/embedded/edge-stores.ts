import path from "node:path";
import type { AppEntries } from "../../../domain/ports/app-entries.ts";
import type { AuthEntries } from "../../../domain/ports/auth-entries.ts";
import type { SqlDatabases } from "../../../domain/ports/sql-databases.ts";
import { type DatabaseReader, readerOf } from "./app-databases/embedded-app-databases.ts";
import { findWorkerDatabase } from "./app-databases/find-sqlite-files.ts";
import type { SqliteReader } from "./app-databases/sqlite-reader.ts";
import { FilesystemAuthEntries } from "./auth-entries.ts";
import { databaseWorkerStarter } from "./databases/database-worker.ts";
import { type DatabaseAccess, databaseDirectory, EmbeddedSqlDatabases } from "./databases/sql-databases.ts";
import type { AppPostgres } from "./postgres/app-postgres.ts";
import { ScriptStore, type Scripts, type UnpackLayer } from "./scripts/script-store.ts";
import { type AppDataFolders, LocalDataFolders } from "./storage/data-folders.ts";
import { EmbeddedAppEntries } from "./storage/embedded-app-entries.ts";
import { folderMeasure, type MeasureApp } from "./storage/embedded-app-storage.ts";
import { type AppPlacement, ON_THIS_EDGE } from "./app-placement.ts";
import type { Supervisor } from "./supervisor/supervisor.ts";
import type { PlatformLog } from "./supervisor/supervisor-options.ts";
import type { WorkerdLauncher, WorkerLauncher } from "./workerd/workerd-launcher.ts";

/** Where an edge keeps the apps, their data and their auth entries. */
export interface EdgeStores {
  scripts: Scripts;
  /** Starts Workers with their data. */
  launcher: WorkerLauncher;
  authEntries: AuthEntries;
  appEntries: AppEntries;
  measure: MeasureApp;
  /** The folder of a database on this machine. */
  databaseDirectory: (databaseId: string) => string;
  /** Finds the SQL database of a Worker; `null` if the Worker has not used it yet. */
  findWorkerDatabase: (databaseId: string) => Promise<DatabaseReader | null>;
  placement: AppPlacement;
  /** For exports and imports. */
  dataFolders: AppDataFolders;
  /** The secret by which edges recognize requests of each other; `null` if there is one edge. */
  forwardingSecret: string | null;
  openDatabases: (access: DatabaseAccess) => SqlDatabases;
  /** Whether a process that had data of the app was killed a short time ago, which can fail requests of the others. */
  isDisturbed: (databaseId: string) => Promise<boolean>;
  /** Cleans up after a crash. Call it before any other method. */
  open(): Promise<void>;
  /**
   * Lets the running apps notice what other edges change, and the other edges reach this one.
   *
   * @param port - of the edge proxy
   */
  follow(apps: Supervisor, port: number): void;
  /** Call it when all apps have been stopped. */
  close(): Promise<void>;
}

export interface StoresContext {
  dataDirectory: string;
  /** The folder of the platform. */
  root: string;
  /** A folder for files that exist only as long as a process. */
  launchRoot: string;
  launcher: WorkerdLauncher;
  unpack: UnpackLayer;
  postgres: AppPostgres;
  sqlite: SqliteReader;
  log: PlatformLog;
}

export type CreateStores = (context: StoresContext) => EdgeStores;

/** Everything on this machine. Only one edge has the apps. */
export function localStores({ dataDirectory, root, launcher, unpack, postgres, sqlite }: StoresContext): EdgeStores {
  const databaseRoot = path.join(root, "databases");
  const directoryOf = (id: string) => databaseDirectory(databaseRoot, id);
  const scripts = new ScriptStore(root, unpack);
  const startWorker = databaseWorkerStarter(launcher);
  let databases: EmbeddedSqlDatabases | undefined;
  return {
    scripts,
    launcher,
    authEntries: new FilesystemAuthEntries(path.join(dataDirectory, "auth-entries")),
    appEntries: new EmbeddedAppEntries({ store: scripts, sqlite }),
    measure: folderMeasure({ databaseDirectory: directoryOf, postgres }),
    databaseDirectory: directoryOf,
    async findWorkerDatabase(databaseId) {
      const location = await findWorkerDatabase(directoryOf(databaseId));
      return location && readerOf(sqlite, location);
    },
    placement: ON_THIS_EDGE,
    dataFolders: new LocalDataFolders(root),
    forwardingSecret: null,
    openDatabases: (access) =>
      (databases = new EmbeddedSqlDatabases({ root: databaseRoot, access, startWorker, postgres })),
    isDisturbed: async () => false,
    async open() {
      await Promise.all([scripts.open(), launcher.open(), databases?.open()]);
    },
    follow() {},
    async close() {},
  };
}
