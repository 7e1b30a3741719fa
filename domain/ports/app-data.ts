import type { Runtime } from "./bundler.ts";

/** Where an app keeps its data. */
export interface AppDataLocation {
  appId: string;
  slug: string;
  /** Its SQL database. */
  databaseId: string;
}

/** Where data is restored. */
export interface RestoredApp extends AppDataLocation {
  /** How large its PostgreSQL database may become. */
  maxDatabaseBytes: number;
}

/** A file of an app's data. Its path is relative, with `/` between names. */
export interface AppDataFile {
  path: string;
  /** In bytes. */
  size: number;
  content(): AsyncIterable<Uint8Array>;
}

/** A copied file. */
export interface CopiedFile extends AppDataFile {
  /** Of its content, in hex. */
  sha256: string;
}

/** A copy of the data at about one moment. Disposing of it removes it. */
export interface AppDataCopy extends AsyncDisposable {
  runtime: Runtime;
  /** The content of each can be read once, in this order. */
  files: readonly CopiedFile[];
  /** What is left out, or may be inconsistent, as sentences for the app's owner. */
  warnings: readonly string[];
}

/**
 * The data of apps as files: `database.sqlite` is the SQL database of a Worker, `storage/kv`, `storage/r2` and other folders are what
 * Miniflare keeps, and `storage/data` is `/data` of a Node server. A database can have a file with the suffix `-wal` or `-journal` beside
 * it, which SQLite needs to read it. The files of `postgres` are the PostgreSQL database of a Node server: scripts for `psql`, which create
 * the schema, add the rows of a table each, and add the constraints, in the order of their names.
 */
export interface AppData {
  /**
   * Copies the data of a live app while it runs.
   *
   * @throws {ServiceError} `conflict` for an app that is not live, or whose data cannot be copied
   */
  copy(app: AppDataLocation, signal: AbortSignal): Promise<AppDataCopy>;
  /**
   * Replaces the data of an app that has never been live. If it fails, call it again from the start, or remove the app.
   *
   * @param openFiles - it is called again for each attempt. The paths of the files are checked. Their content is of a stranger, and is
   *   read before the next file
   * @returns what is left out, as sentences for the app's owner
   * @throws {ServiceError} `invalid` for a path that no data can have, and for a database that PostgreSQL refuses; `conflict` for data that
   *   the platform cannot read; `plan_limit` for a database that becomes too large
   */
  restore(app: RestoredApp, openFiles: () => AsyncIterable<AppDataFile>, signal: AbortSignal): Promise<string[]>;
}
