import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DatabaseProblem, DatabaseRequest } from "./database-request.ts";

/** Runs one statement. Reads no more rows than it returns, and one to see whether there are more. */
export function runQuery(
  database: DatabaseSync,
  { sql, limit, limits }: Extract<DatabaseRequest, { kind: "query" }>,
): object {
  const startedAt = performance.now();
  const statement = prepareOnly(database, sql);
  if ("reason" in statement) return { problem: statement };
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const columns = statement.columns().map(({ name }) => ({ name }));
  // Such as REINDEX of a database without indexes, which the authorizer does not get to see.
  if (columns.length === 0) return { problem: { reason: "write" } satisfies DatabaseProblem };
  const rows: unknown[][] = [];
  let bytes = 0;
  let isTruncated = false;
  for (const values of statement.iterate() as Iterable<unknown> as Iterable<unknown[]>) {
    const row = values.map((value) => toJsonValue(value, limits.valueBytes));
    bytes += Buffer.byteLength(JSON.stringify(row));
    isTruncated = rows.length === limit || bytes > limits.resultBytes;
    if (isTruncated) break;
    rows.push(row);
  }
  return { columns, rows, is_truncated: isTruncated, duration_ms: Math.round(performance.now() - startedAt) };
}

/** `prepare` ignores what follows the first statement. */
function prepareOnly(
  database: DatabaseSync,
  sql: string,
): StatementSync | Extract<DatabaseProblem, { reason: string }> {
  const statement = prepareFirst(database, sql);
  if (statement === null) return { reason: "empty" };
  const rest = sql.slice(statement.sourceSQL.length);
  return hasStatement(database, rest) ? { reason: "several" } : statement;
}

/** Returns `null` for a text that has only comments. */
function prepareFirst(database: DatabaseSync, sql: string): StatementSync | null {
  try {
    return database.prepare(sql);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_INVALID_ARG_VALUE") return null;
    throw error;
  }
}

function hasStatement(database: DatabaseSync, sql: string): boolean {
  const rest = sql.replace(/^[\s;]+/, "");
  try {
    return rest !== "" && prepareFirst(database, rest) !== null;
  } catch {
    return true;
  }
}

function toJsonValue(value: unknown, maxBytes: number): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "string") {
    const bytes = Buffer.byteLength(value);
    return bytes <= maxBytes ? value : { text: value.slice(0, maxBytes / 4).toWellFormed(), bytes };
  }
  if (value instanceof Uint8Array)
    return { base64: Buffer.from(value.subarray(0, maxBytes)).toString("base64"), bytes: value.length };
  return null;
}
