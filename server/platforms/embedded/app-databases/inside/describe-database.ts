import type { DatabaseSync } from "node:sqlite";
import type { DatabaseRequest } from "./database-request.ts";

type Limits = DatabaseRequest["limits"];

/** After this time, rows are not counted any more. */
const COUNT_MS = 3000;

/** Without those of SQLite and of workerd. */
const TABLES = `select name, type from pragma_table_list
  where schema = 'main' and type in ('table', 'view', 'virtual') and name not glob 'sqlite_*' and name not glob '_cf_*'
  order by name limit ?`;
/** `hidden` is 1 for the arguments of a virtual table, and larger for computed columns. */
const COLUMNS = "select name, type, pk from pragma_table_xinfo(?) where hidden <> 1 limit ?";

/** Lists the tables and views with their columns, and counts rows as far as the limits permit. */
export function describeDatabase(database: DatabaseSync, limits: Limits): object {
  const found = database.prepare(TABLES).all(limits.tables + 1);
  const deadline = performance.now() + COUNT_MS;
  const tables = found.slice(0, limits.tables).map((row) => {
    const name = String(row["name"]);
    const kind = row["type"] === "view" ? "view" : "table";
    const count = kind === "view" || performance.now() > deadline ? null : countRows(database, name, limits);
    return {
      schema: "main",
      name,
      kind,
      columns: listColumns(database, name, limits),
      row_count: count === null ? null : Math.min(count, limits.countedRows),
      has_more_rows: count !== null && count > limits.countedRows,
    };
  });
  return { tables, has_more_tables: found.length > limits.tables };
}

/** A view that reads a missing table has none. */
function listColumns(database: DatabaseSync, table: string, limits: Limits): object[] {
  return (
    orNull(() => database.prepare(COLUMNS).all(table, limits.columns))?.map((row) => ({
      name: String(row["name"]),
      type: String(row["type"]),
      is_primary_key: Number(row["pk"]) > 0,
    })) ?? []
  );
}

function countRows(database: DatabaseSync, table: string, limits: Limits): number | null {
  const rows = `select 1 from "${table.replaceAll('"', '""')}" limit ${limits.countedRows + 1}`;
  return orNull(() => Number(database.prepare(`select count(*) as count from (${rows})`).get()?.["count"]));
}

/** Damage to one table does not hide the others. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
