import type { StoredApp } from "./app-storage.ts";

/** The beginning of a long text. */
export interface CutText {
  text: string;
  /** The size of the whole text in UTF-8. */
  bytes: number;
}

/** Binary data, or its beginning. */
export interface BinaryValue {
  base64: string;
  /** The size of the whole value. */
  bytes: number;
}

/** A value of a row. A number that JSON cannot represent exactly is a text. */
export type DatabaseValue = null | boolean | number | string | CutText | BinaryValue;

export interface DatabaseColumn {
  name: string;
  /** As it was declared; empty for a column without a type. */
  type: string;
  is_primary_key: boolean;
}

export interface DatabaseTable {
  /** `main` in SQLite. */
  schema: string;
  name: string;
  kind: "table" | "view";
  columns: DatabaseColumn[];
  /** Counts up to `MAX_COUNTED_ROWS`; `null` if the rows could not be counted in time. */
  row_count: number | null;
  /** Whether there are more rows than that. */
  has_more_rows: boolean;
}

export interface DatabaseDescription {
  kind: "sqlite" | "postgres";
  /** The file of a SQLite database below `/data`, and `main` for the only database of an app. */
  name: string;
  /** Of the files of the database. */
  bytes: number;
  tables: DatabaseTable[];
  /** Whether there are more tables. */
  has_more_tables: boolean;
}

export interface AppDatabase extends DatabaseDescription {
  /** The databases of the app, the one that it uses by default first. */
  names: string[];
}

export interface QueryResult {
  columns: { name: string }[];
  rows: DatabaseValue[][];
  /** Whether there are more rows than the limit, or than a response may have. */
  is_truncated: boolean;
  /** How long the database ran the statement. */
  duration_ms: number;
}

export interface DatabaseQuery {
  sql: string;
  /** How many rows are returned at most. */
  limit: number;
}

export const DATABASE_LIMITS = {
  countedRows: 10_000,
  tables: 200,
  columns: 200,
  /** How long one statement may run. */
  statementMs: 10_000,
  /** Of all values of a result. */
  resultBytes: 1024 * 1024,
  /** A longer text or binary value is cut. */
  valueBytes: 16 * 1024,
} as const;

/** Reads the SQL databases of apps, also while an app runs. Neither changes a database nor makes an app wait. */
export interface AppDatabases {
  /**
   * Describes a database of an app.
   *
   * @param name - one of `names`; `null` for the one that the app uses by default
   * @returns `null` if the app has no database
   * @throws {ServiceError} `not_found` for an unknown name, `conflict` when the database cannot be read, `unavailable` when the app
   *   writes to it all the time
   */
  describe(app: StoredApp, name: string | null, signal: AbortSignal): Promise<AppDatabase | null>;
  /**
   * Runs one statement that only reads.
   *
   * @param name - as above
   * @throws {ServiceError} `invalid` when the statement is refused, fails, or exceeds a limit; otherwise as above
   */
  query(app: StoredApp, name: string | null, query: DatabaseQuery, signal: AbortSignal): Promise<QueryResult>;
}
