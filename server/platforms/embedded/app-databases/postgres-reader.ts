import type pg from "pg";
import {
  DATABASE_LIMITS,
  type DatabaseQuery,
  type DatabaseValue,
  type QueryResult,
} from "../../../../domain/ports/app-databases.ts";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import type { DescribedTables } from "./reports.ts";
import type { AppPostgres } from "../postgres/app-postgres.ts";
import { describeTables } from "./describe-tables.ts";
import { explainFailure, READS_ONLY } from "./explain-failure.ts";
import { ReaderConnection } from "./reader-connection.ts";

const { statementMs, resultBytes } = DATABASE_LIMITS;

/** How many rows are requested at once, because one can be large. */
const BATCH_ROWS = 10;
/** How much is read for a result, whose long values are cut. */
const READ_BYTES = 8 * 1024 * 1024;

/** What can have a cursor, and what cannot but only reads. For a clear error: what a statement may do is decided by PostgreSQL. */
const QUERY = /^(?:select|with|values|table)\b/i;
const DESCRIPTION = /^(?:explain|show)\b/i;
/** Spaces, comments and parentheses. */
const BEFORE_STATEMENT = /^(?:[\s(]|--[^\n]*(?:\n|$)|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/)+/;

/**
 * Reads the PostgreSQL databases of apps, as a role that can only read one of them. A statement is sent with the extended
 * protocol, which permits one, as the query of a cursor in a transaction that is read-only.
 */
export class PostgresReader {
  readonly #postgres: Pick<AppPostgres, "openReader" | "measure">;
  readonly #statementMs: number;

  /** @param timeoutMs - how long a statement may run */
  constructor(postgres: Pick<AppPostgres, "openReader" | "measure">, timeoutMs: number = statementMs) {
    this.#postgres = postgres;
    this.#statementMs = timeoutMs;
  }

  async describe(databaseId: string, signal: AbortSignal): Promise<DescribedTables & { bytes: number }> {
    const described = await this.#connected(databaseId, "pg_catalog", signal, ({ client }) => describeTables(client));
    return { ...described, bytes: await this.#postgres.measure(databaseId) };
  }

  async query(databaseId: string, { sql, limit }: DatabaseQuery, signal: AbortSignal): Promise<QueryResult> {
    const start = sql.replace(BEFORE_STATEMENT, "");
    if (start === "") throw new ServiceError("invalid", "sql: has no statement.");
    const isQuery = QUERY.test(start);
    if (!isQuery && !DESCRIPTION.test(start)) throw new ServiceError("invalid", READS_ONLY);
    return this.#connected(databaseId, null, signal, async (connection) => {
      const startedAt = performance.now();
      const { client } = connection;
      await client.query("begin transaction read only");
      // After its first query, a transaction cannot become writable.
      await client.query("select 1");
      const read = isQuery ? readCursor(connection, sql, limit) : readAll(client, sql, limit);
      return { ...(await read), duration_ms: Math.round(performance.now() - startedAt) };
    });
  }

  async #connected<T>(
    databaseId: string,
    searchPath: string | null,
    signal: AbortSignal,
    work: (connection: ReaderConnection) => Promise<T>,
  ): Promise<T> {
    const reader = await this.#postgres.openReader(databaseId);
    if (reader === null) throw new ServiceError("conflict", "The app has no SQL database, or has not used it yet.");
    const connection = new ReaderConnection(reader, { searchPath, timeoutMs: this.#statementMs, signal });
    try {
      await connection.open();
      return await work(connection);
    } catch (error) {
      signal.throwIfAborted();
      throw explainFailure(error, connection.endedBy, this.#statementMs);
    } finally {
      await connection.close();
    }
  }
}

type Rows = Omit<QueryResult, "duration_ms">;

async function readCursor({ client, bytesRead }: ReaderConnection, sql: string, limit: number): Promise<Rows> {
  await client.query(oneStatement(`declare result no scroll cursor for ${sql}`));
  const rows: DatabaseValue[][] = [];
  let bytes = 0;
  for (;;) {
    const count = Math.min(BATCH_ROWS, limit + 1 - rows.length);
    const batch = await fetchRows(client, `fetch ${count} from result`);
    const columns = batch.fields.map(({ name }) => ({ name }));
    for (const row of batch.rows) {
      bytes += Buffer.byteLength(JSON.stringify(row));
      if (rows.length === limit || bytes > resultBytes) return { columns, rows, is_truncated: true };
      rows.push(row);
    }
    if (batch.rows.length < count) return { columns, rows, is_truncated: false };
    if (bytesRead() > READ_BYTES) return { columns, rows, is_truncated: true };
  }
}

/** The result is short. */
async function readAll(client: pg.Client, sql: string, limit: number): Promise<Rows> {
  const { fields, rows } = await fetchRows(client, sql);
  const columns = fields.map(({ name }) => ({ name }));
  return { columns, rows: rows.slice(0, limit), is_truncated: rows.length > limit };
}

function fetchRows(client: pg.Client, text: string): Promise<pg.QueryArrayResult<DatabaseValue[]>> {
  return client.query<DatabaseValue[]>({ ...oneStatement(text), rowMode: "array" });
}

/** The extended protocol, which refuses a second statement. */
function oneStatement(text: string): pg.QueryConfig {
  const query: pg.QueryConfig & { queryMode: "extended" } = { text, queryMode: "extended" };
  return query;
}
