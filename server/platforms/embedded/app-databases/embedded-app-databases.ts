import type {
  AppDatabase,
  AppDatabases,
  DatabaseDescription,
  DatabaseQuery,
  QueryResult,
} from "../../../../domain/ports/app-databases.ts";
import type { StoredApp } from "../../../../domain/ports/app-storage.ts";
import type { AppVariables } from "../../../../domain/ports/app-variables.ts";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import { namesOwnDatabase } from "../../../../domain/shared/postgres-variables.ts";
import type { PostgresReader } from "./postgres-reader.ts";
import type { ScriptVersion } from "../script-version.ts";
import type { Scripts } from "../scripts/script-store.ts";
import type { AppPlacement } from "../app-placement.ts";
import { findSqliteFiles } from "./find-sqlite-files.ts";
import type { SqliteReader } from "./sqlite-reader.ts";

interface EmbeddedAppDatabasesOptions {
  store: Pick<Scripts, "live">;
  /** Finds the SQL database of a Worker; `null` if the Worker has not used it yet. */
  findWorkerDatabase: (databaseId: string) => Promise<DatabaseReader | null>;
  variables: AppVariables;
  sqlite: SqliteReader;
  postgres: PostgresReader;
  placement: Pick<AppPlacement, "openData">;
}

/** Reads one database. */
export interface DatabaseReader {
  describe(signal: AbortSignal): Promise<Omit<DatabaseDescription, "kind" | "name">>;
  query(query: DatabaseQuery, signal: AbortSignal): Promise<QueryResult>;
}

/** Reads databases at different places. */
interface LocationReader<Location> {
  describe(location: Location, signal: AbortSignal): ReturnType<DatabaseReader["describe"]>;
  query(location: Location, query: DatabaseQuery, signal: AbortSignal): Promise<QueryResult>;
}

/** A database of an app. */
interface FoundDatabase {
  name: string;
  kind: DatabaseDescription["kind"];
  reader: DatabaseReader;
}

/** Reads the databases of the apps on this machine. */
export class EmbeddedAppDatabases implements AppDatabases {
  readonly #options: EmbeddedAppDatabasesOptions;

  constructor(options: EmbeddedAppDatabasesOptions) {
    this.#options = options;
  }

  async describe(app: StoredApp, name: string | null, signal: AbortSignal): Promise<AppDatabase | null> {
    return this.#read(app, signal, async (all) => {
      if (all.length === 0 && name === null) return null;
      const database = select(all, name);
      const described = await database.reader.describe(signal);
      return { kind: database.kind, name: database.name, names: all.map((each) => each.name), ...described };
    });
  }

  async query(app: StoredApp, name: string | null, query: DatabaseQuery, signal: AbortSignal): Promise<QueryResult> {
    return this.#read(app, signal, (all) => select(all, name).reader.query(query, signal));
  }

  /** Calls `use` with the databases of an app. The one that the app uses by default is the first. */
  async #read<T>(
    { slug, appId }: StoredApp,
    signal: AbortSignal,
    use: (all: FoundDatabase[]) => Promise<T>,
  ): Promise<T> {
    const live = await this.#options.store.live(slug);
    if (live?.appId !== appId) return use([]);
    if (live.code.runtime === "worker") return use(await this.#findOfWorker(live));
    await using data = await this.#options.placement.openData(live, signal);
    return await use(await this.#findOfServer(live, data.folder));
  }

  async #findOfWorker({ databaseId }: ScriptVersion): Promise<FoundDatabase[]> {
    const reader = await this.#options.findWorkerDatabase(databaseId);
    return reader === null ? [] : [{ name: "main", kind: "sqlite", reader }];
  }

  async #findOfServer({ appId, databaseId, code }: ScriptVersion, folder: string): Promise<FoundDatabase[]> {
    const { values } = await this.#options.variables.read(appId);
    const files = await findSqliteFiles(folder, values);
    const { sqlite, postgres } = this.#options;
    const found = files.map((name): FoundDatabase => ({
      name,
      kind: "sqlite",
      reader: readerOf(sqlite, { folder, name }),
    }));
    const uses = code.runtime === "node" ? code.server.postgres : undefined;
    const isOfService = uses !== undefined && !namesOwnDatabase(uses.variables, values);
    return isOfService
      ? [{ name: "postgres", kind: "postgres", reader: readerOf(postgres, databaseId) }, ...found]
      : found;
  }
}

/** Reads the database at one place. */
export function readerOf<Location>(reader: LocationReader<Location>, location: Location): DatabaseReader {
  return {
    describe: (signal) => reader.describe(location, signal),
    query: (statement, signal) => reader.query(location, statement, signal),
  };
}

function select(all: readonly FoundDatabase[], name: string | null): FoundDatabase {
  const [first] = all;
  if (first === undefined) throw new ServiceError("conflict", "The app has no SQL database, or has not used it yet.");
  const found = name === null ? first : all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = all.map((each) => JSON.stringify(each.name)).join(", ");
  throw new ServiceError("not_found", `database: the app has no such database. It has ${names}.`);
}
