import pg from "pg";
import { DATABASE_LIMITS, type DatabaseColumn } from "../../../../domain/ports/app-databases.ts";
import type { DescribedTables } from "./reports.ts";

const { tables: maxTables, columns: maxColumns, countedRows } = DATABASE_LIMITS;

/** After this time, rows are not counted any more. */
const COUNT_MS = 3000;

/** Those of the usual schema come first. */
const TABLES = `select pg_class.oid, nspname as schema, relname as name, relkind as kind
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where relkind in ('r', 'p', 'v', 'm', 'f') and nspname !~ '^pg_' and nspname <> 'information_schema'
  order by nspname <> 'public', nspname, relname limit $1`;

const COLUMNS = `select attrelid as table, attname as name, format_type(atttypid, atttypmod) as type,
    exists (select from pg_index where indrelid = attrelid and indisprimary and attnum = any (indkey)) as is_primary_key
  from pg_attribute where attrelid = any ($1::oid[]) and attnum between 1 and $2 and not attisdropped
  order by attrelid, attnum`;

interface TableRow {
  oid: number;
  schema: string;
  name: string;
  kind: string;
}

interface ColumnRow {
  table: number;
  name: string;
  type: string;
  is_primary_key: boolean;
}

/** Lists the tables and views with their columns, and counts rows as far as the limits permit. */
export async function describeTables(client: pg.Client): Promise<DescribedTables> {
  const { rows: found } = await client.query<TableRow>(TABLES, [maxTables + 1]);
  const listed = found.slice(0, maxTables);
  const { rows } = await client.query<ColumnRow>(COLUMNS, [listed.map(({ oid }) => oid), maxColumns]);
  const columns = Map.groupBy(rows, (row) => row.table);
  const deadline = Date.now() + COUNT_MS;
  const tables: DescribedTables["tables"] = [];
  for (const { oid, schema, name, kind } of listed) {
    const isStored = ["r", "p", "m"].includes(kind);
    const count = isStored ? await countRows(client, { schema, name }, deadline) : null;
    tables.push({
      schema,
      name,
      kind: kind === "v" || kind === "m" ? "view" : "table",
      columns: columns.get(oid)?.map(toColumn) ?? [],
      row_count: count === null ? null : Math.min(count, countedRows),
      has_more_rows: count !== null && count > countedRows,
    });
  }
  return { tables, has_more_tables: found.length > maxTables };
}

function toColumn({ name, type, is_primary_key }: ColumnRow): DatabaseColumn {
  return { name, type, is_primary_key };
}

/** Returns `null` for a table that cannot be counted in time, or is being changed. */
async function countRows(
  client: pg.Client,
  { schema, name }: Pick<TableRow, "schema" | "name">,
  deadline: number,
): Promise<number | null> {
  const remaining = deadline - Date.now();
  if (remaining <= 0) return null;
  const table = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;
  try {
    await client.query(`set statement_timeout = ${remaining}`);
    const select = `select count(*) as count from (select 1 from ${table} limit ${countedRows + 1}) as counted`;
    const { rows } = await client.query<{ count: number }>(select);
    return rows[0]?.count ?? null;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return null;
    throw error;
  }
}
