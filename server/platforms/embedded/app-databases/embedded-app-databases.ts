import path from "node:path";
import type { AppDatabase, AppDatabases, DatabaseQuery, QueryResult } from "../../../../domain/ports/app-databases.ts";
import type { StoredApp } from "../../../../domain/ports/app-storage.ts";
import type { AppVariables } from "../../../../domain/ports/app-variables.ts";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import { namesOwnDatabase } from "../../../../domain/shared/postgres-variables.ts";
import type { PostgresReader } from "./postgres-reader.ts";
import type { ScriptVersion } from "../script-version.ts";
import type { ScriptStore } from "../scripts/script-store.ts";
import type { DatabaseLocation } from "./copy-database.ts";
import { findSqliteFiles, findWorkerDatabase } from "./find-sqlite-files.ts";
import type { SqliteReader } from "./sqlite-reader.ts";

interface EmbeddedAppDatabasesOptions {
  store: Pick<ScriptStore, "live">;
  /** Returns the folder of an app's SQL database. */
  databaseDirectory: (databaseId: string) => string;
  variables: AppVariables;
  sqlite: SqliteReader;
  postgres: PostgresReader;
}

/** A database of an app, and where it is. */
type FoundDatabase = { name: string } & (
  | { kind: "sqlite"; location: DatabaseLocation }
  | { kind: "postgres"; databaseId: string }
);

/** Reads the databases of the apps on this machine. */
export class EmbeddedAppDatabases implements AppDatabases {
  readonly #options: EmbeddedAppDatabasesOptions;

  constructor(options: EmbeddedAppDatabasesOptions) {
    this.#options = options;
  }

  async describe(app: StoredApp, name: string | null, signal: AbortSignal): Promise<AppDatabase | null> {
    const all = await this.#find(app);
    if (all.length === 0 && name === null) return null;
    const database = select(all, name);
    const { sqlite, postgres } = this.#options;
    const described =
      database.kind === "sqlite"
        ? await sqlite.describe(database.location, signal)
        : await postgres.describe(database.databaseId, signal);
    return { kind: database.kind, name: database.name, names: all.map((each) => each.name), ...described };
  }

  async query(app: StoredApp, name: string | null, query: DatabaseQuery, signal: AbortSignal): Promise<QueryResult> {
    const database = select(await this.#find(app), name);
    const { sqlite, postgres } = this.#options;
    if (database.kind === "sqlite") return sqlite.query(database.location, query, signal);
    return postgres.query(database.databaseId, query, signal);
  }

  /** The database that the app uses by default is the first. */
  async #find({ slug, appId }: StoredApp): Promise<FoundDatabase[]> {
    const live = await this.#options.store.live(slug);
    if (live?.appId !== appId) return [];
    return live.code.runtime === "worker" ? this.#findOfWorker(live) : this.#findOfServer(live);
  }

  async #findOfWorker({ databaseId }: ScriptVersion): Promise<FoundDatabase[]> {
    const location = await findWorkerDatabase(this.#options.databaseDirectory(databaseId));
    return location === null ? [] : [{ name: "main", kind: "sqlite", location }];
  }

  async #findOfServer({ appId, databaseId, code, storageDirectory }: ScriptVersion): Promise<FoundDatabase[]> {
    const { values } = await this.#options.variables.read(appId);
    const folder = path.join(storageDirectory, "data");
    const files = await findSqliteFiles(folder, values);
    const found = files.map((name): FoundDatabase => ({ name, kind: "sqlite", location: { folder, name } }));
    const uses = code.runtime === "node" ? code.server.postgres : undefined;
    const isOfService = uses !== undefined && !namesOwnDatabase(uses.variables, values);
    return isOfService ? [{ name: "postgres", kind: "postgres", databaseId }, ...found] : found;
  }
}

function select(all: readonly FoundDatabase[], name: string | null): FoundDatabase {
  const [first] = all;
  if (first === undefined) throw new ServiceError("conflict", "The app has no SQL database, or has not used it yet.");
  const found = name === null ? first : all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = all.map((each) => JSON.stringify(each.name)).join(", ");
  throw new ServiceError("not_found", `database: the app has no such database. It has ${names}.`);
}
