import {
  type AppDatabase,
  DATABASE_LIMITS,
  type DatabaseQuery,
  type DatabaseTable,
  type DatabaseValue,
  type QueryResult,
} from "../../../domain/ports/app-databases.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { toSubquery } from "./single-select.ts";

/** What one statement returned. Binary data is a list of numbers. */
export interface RawResult {
  columns: string[];
  rows: unknown[][];
  durationMs: number;
}

/** Runs statements on a D1 database, in order. */
export type RunStatements = (statements: readonly string[], signal: AbortSignal) => Promise<RawResult[]>;

const MAIN = "main";
const { tables: MAX_TABLES, columns: MAX_COLUMNS, countedRows: MAX_ROWS } = DATABASE_LIMITS;
const TABLES = `SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')
  AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*' ORDER BY name LIMIT ${MAX_TABLES + 1}`;
/** Of one request to the database. */
const STATEMENTS_PER_BATCH = 50;

/** Describes a D1 database. */
export async function describeD1(
  run: RunStatements,
  signal: AbortSignal,
): Promise<Pick<AppDatabase, "tables" | "has_more_tables">> {
  const [listed] = await run([TABLES], signal);
  const found = listed?.rows ?? [];
  const tables: DatabaseTable[] = [];
  const kept = found.slice(0, MAX_TABLES);
  for (let index = 0; index < kept.length; index += STATEMENTS_PER_BATCH / 2) {
    const part = kept.slice(index, index + STATEMENTS_PER_BATCH / 2);
    const statements = part.flatMap(([name]) => [`PRAGMA table_info(${quoteName(name)})`, countRows(name)]);
    const results = await run(statements, signal);
    part.forEach(([name, type], n) => tables.push(toTable(name, type, results.slice(2 * n, 2 * n + 2))));
  }
  return { tables, has_more_tables: found.length > MAX_TABLES };
}

/**
 * Runs one statement that only reads.
 *
 * @throws {ServiceError} `invalid` when it can do anything else
 */
export async function queryD1(
  run: RunStatements,
  { sql, limit }: DatabaseQuery,
  signal: AbortSignal,
): Promise<QueryResult> {
  const statement = toSubquery(sql, limit + 1);
  if (statement === null) throw new ServiceError("invalid", "sql: must be one SELECT statement, without parameters.");
  const [result] = await run([statement], signal);
  const rows: DatabaseValue[][] = [];
  let bytes = 0;
  let isTruncated = false;
  for (const values of result?.rows ?? []) {
    const row = values.map(toValue);
    bytes += Buffer.byteLength(JSON.stringify(row));
    isTruncated = rows.length === limit || bytes > DATABASE_LIMITS.resultBytes;
    if (isTruncated) break;
    rows.push(row);
  }
  const columns = (result?.columns ?? []).map((column) => ({ name: column }));
  return { columns, rows, is_truncated: isTruncated, duration_ms: Math.round(result?.durationMs ?? 0) };
}

function quoteName(name: unknown): string {
  return `"${String(name).replaceAll('"', '""')}"`;
}

function countRows(name: unknown): string {
  return `SELECT count(*) FROM (SELECT 1 FROM ${quoteName(name)} LIMIT ${MAX_ROWS + 1})`;
}

function toTable(name: unknown, type: unknown, [columns, count]: readonly RawResult[]): DatabaseTable {
  const rows = Number(count?.rows[0]?.[0] ?? 0);
  const indexOf = (column: string) => columns?.columns.indexOf(column) ?? -1;
  const [nameAt, typeAt, keyAt] = [indexOf("name"), indexOf("type"), indexOf("pk")];
  return {
    schema: MAIN,
    name: String(name),
    kind: type === "view" ? "view" : "table",
    columns: (columns?.rows ?? []).slice(0, MAX_COLUMNS).map((row) => ({
      name: String(row[nameAt]),
      type: String(row[typeAt]),
      is_primary_key: Number(row[keyAt]) > 0,
    })),
    row_count: type === "view" ? null : Math.min(rows, MAX_ROWS),
    has_more_rows: type !== "view" && rows > MAX_ROWS,
  };
}

function toValue(value: unknown): DatabaseValue {
  const { valueBytes } = DATABASE_LIMITS;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "string") {
    const bytes = Buffer.byteLength(value);
    return bytes <= valueBytes ? value : { text: value.slice(0, valueBytes / 4).toWellFormed(), bytes };
  }
  if (!Array.isArray(value)) return null;
  return { base64: Buffer.from(value.slice(0, valueBytes) as number[]).toString("base64"), bytes: value.length };
}
