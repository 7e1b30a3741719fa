import type { DataWorker, SqlValue, Statement } from "./data-worker.ts";

/** A table, as far as its rows are copied. */
export interface SqlTable {
  name: string;
  sql: string;
  isVirtual: boolean;
  /** The columns with stored values. */
  columns: readonly string[];
  /** The columns by which rows are ordered, and which identify a row; empty if there are none. */
  key: readonly string[];
  /** The tables that its foreign keys name. */
  parents: ReadonlySet<string>;
}

/** What is created after the rows. */
interface SqlObject {
  type: "index" | "view" | "trigger";
  sql: string;
}

export interface SqlSchema {
  tables: readonly SqlTable[];
  objects: readonly SqlObject[];
  hasSequences: boolean;
  /** Changes with the schema. */
  fingerprint: string;
}

export const OBJECTS_QUERY = `SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' ORDER BY rowid`;
const LIST_QUERY = "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'";
const COLUMNS = "SELECT name, pk, hidden FROM pragma_table_xinfo(?)";
const PARENTS = `SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)`;
/** Of one request to the database. */
const TABLES_PER_BATCH = 50;
const ROWID_NAMES = ["rowid", "_rowid_", "oid"];

export async function readSchema(worker: DataWorker): Promise<SqlSchema> {
  const { rows } = await worker.query([{ sql: OBJECTS_QUERY }, { sql: LIST_QUERY }]);
  const [found = [], listed = []] = rows;
  const kinds = new Map(listed.map(([name, type, wr]) => [textOf(name), { type, hasRowid: wr === 0 }]));
  const named = found.filter(([type, name]) => type === "table" && isOfApp(textOf(name), kinds));
  const tables: SqlTable[] = [];
  for (let at = 0; at < named.length; at += TABLES_PER_BATCH) {
    const part = named.slice(at, at + TABLES_PER_BATCH);
    const statements = part.flatMap(([, name]) =>
      [COLUMNS, PARENTS].map((sql): Statement => ({ sql, params: [name ?? ""] })),
    );
    const described = (await worker.query(statements)).rows;
    part.forEach(([, name, sql], n) => {
      const kind = kinds.get(textOf(name));
      tables.push({
        name: textOf(name),
        sql: textOf(sql),
        isVirtual: kind?.type === "virtual",
        ...describeColumns(described[2 * n] ?? [], kind?.hasRowid ?? true),
        parents: new Set((described[2 * n + 1] ?? []).map(([parent]) => textOf(parent))),
      });
    });
  }
  const objects = found.flatMap(([type, , sql]): SqlObject[] =>
    type === "index" || type === "view" || type === "trigger" ? [{ type, sql: textOf(sql) }] : [],
  );
  return { tables, objects, hasSequences: kinds.has("sqlite_sequence"), fingerprint: JSON.stringify(found) };
}

function isOfApp(name: string, kinds: ReadonlyMap<string, { type: SqlValue | undefined }>): boolean {
  return !name.startsWith("sqlite_") && kinds.get(name)?.type !== "shadow";
}

/** @param rows - name, position in the primary key, and kind: 0 for a stored column */
function describeColumns(rows: readonly SqlValue[][], hasRowid: boolean): Pick<SqlTable, "columns" | "key"> {
  const columns = rows.filter(([, , hidden]) => hidden === 0).map(([name]) => textOf(name));
  const primary = rows.filter(([, pk]) => Number(pk) > 0).toSorted((a, b) => Number(a[1]) - Number(b[1]));
  if (!hasRowid) return { columns, key: primary.map(([name]) => textOf(name)) };
  const names = new Set(rows.map(([name]) => textOf(name).toLowerCase()));
  const rowid = ROWID_NAMES.find((name) => !names.has(name));
  return { columns, key: rowid === undefined ? [] : [rowid] };
}

/** The tables, each after those that its foreign keys name, and the tables for which there is no such order. */
export function orderTables(tables: readonly SqlTable[]): { ordered: SqlTable[]; circular: SqlTable[] } {
  const [ordered, placed] = [[] as SqlTable[], new Set<string>()];
  const names = new Set(tables.map(({ name }) => name.toLowerCase()));
  let remaining = [...tables];
  for (;;) {
    const isReady = ({ parents }: SqlTable) =>
      [...parents].every((parent) => !names.has(parent.toLowerCase()) || placed.has(parent.toLowerCase()));
    const ready = remaining.filter(isReady);
    if (ready.length === 0) return { ordered, circular: remaining };
    ordered.push(...ready);
    for (const { name } of ready) placed.add(name.toLowerCase());
    remaining = remaining.filter((table) => !ready.includes(table));
  }
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** @throws {TypeError} for a value that is not a text */
export function textOf(value: SqlValue | undefined): string {
  if (typeof value !== "string") throw new TypeError("A name in a database is not a text");
  return value;
}
