import type { SqlValue, Statement } from "./data-worker.ts";
import { quoteName, type SqlTable } from "./sql-schema.ts";

/**
 * An expression for a value with its exact type. JSON has neither 64-bit integers nor infinity, and does not distinguish 1 from 1.0, so
 * these get a letter before them, and texts too.
 */
function exactly(column: string): string {
  const name = quoteName(column);
  const real = `CASE WHEN abs(${name}) > 1.7976931348623157e308 THEN 'r' || ${name} ELSE ${name} END`;
  return `CASE typeof(${name}) WHEN 'integer' THEN 'i' || ${name} WHEN 'text' THEN 't' || ${name} WHEN 'real' THEN ${real} ELSE ${name} END`;
}

/** The columns of the rows that `selectRows` returns: the key, then the others. */
function selectedColumns({ key, columns }: SqlTable): readonly string[] {
  return [...key, ...columns.filter((column) => !key.includes(column))];
}

/** @param page.after - the last row of the page before; `null` for the first page */
export function selectRows(
  table: SqlTable,
  page: { after: readonly SqlValue[] | null; limit: number } | null,
): Statement {
  const { name, key } = table;
  const values = selectedColumns(table).map((column, at) => `${exactly(column)} AS c${at}`);
  const keys = key.map(quoteName).join(", ");
  const bound = toSql((page?.after ?? []).slice(0, key.length));
  const where = page?.after == null || key.length === 0 ? "" : ` WHERE (${keys}) > (${bound.texts.join(", ")})`;
  const order = key.length === 0 ? "" : ` ORDER BY ${keys}`;
  const limit = page === null || key.length === 0 ? "" : ` LIMIT ${page.limit}`;
  return { sql: `SELECT ${values.join(", ")} FROM ${quoteName(name)}${where}${order}${limit}`, params: bound.params };
}

/** Inserts a row of `selectRows`. */
export function insertRow(table: SqlTable, row: readonly SqlValue[], into = table.name): Statement {
  const names = into === table.name ? selectedColumns(table).map(quoteName) : stagedColumns(table);
  const { texts, params } = toSql(row);
  return { sql: `INSERT INTO ${quoteName(into)} (${names.join(", ")}) VALUES (${texts.join(", ")})`, params };
}

function stagedColumns(table: SqlTable): string[] {
  return selectedColumns(table).map((_, at) => `c${at}`);
}

/** A table without types and constraints, which has rows of another one for a while. */
export function createStaging(table: SqlTable, name: string): Statement {
  return { sql: `CREATE TABLE ${quoteName(name)} (${stagedColumns(table).join(", ")})` };
}

export function moveFromStaging(table: SqlTable, name: string): Statement {
  const names = selectedColumns(table).map(quoteName).join(", ");
  const staged = stagedColumns(table).join(", ");
  return {
    sql: `INSERT INTO ${quoteName(table.name)} (${names}) SELECT ${staged} FROM ${quoteName(name)} ORDER BY rowid`,
  };
}

/** Values as texts of SQL. A statement has 100 parameters at most, so only what needs one is a parameter. */
function toSql(values: readonly SqlValue[]): { texts: string[]; params: SqlValue[] } {
  const params: SqlValue[] = [];
  const bind = (value: SqlValue, text = "?"): string => {
    params.push(value);
    return text;
  };
  const texts = values.map((value) => {
    if (value === null) return "NULL";
    if (typeof value === "number") return bind(value, "CAST(? AS REAL)");
    if (typeof value === "object") return value.blob === "" ? "x''" : bind(value);
    const [kind, rest] = [value.slice(0, 1), value.slice(1)];
    if (kind === "t") return rest === "" ? "''" : bind(rest);
    if (kind === "r") return rest.startsWith("-") ? "-9e999" : "9e999";
    if (kind === "i" && /^-?\d{1,19}$/.test(rest)) return `CAST('${rest}' AS INTEGER)`;
    throw new TypeError("A value of a database has an unknown type");
  });
  return { texts, params };
}
