import type { Client } from "pg";
import type { Em } from "./orm.ts";

export interface CopiedTables {
  tables: number;
  rows: number;
}

interface Table {
  name: string;
  /** Without generated columns. */
  columns: string;
}

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

/** The schema of pg-boss has its own versions and partitions. */
const OTHER_SCHEMAS = ["jobs", "information_schema"];
const FETCHED_ROWS = 100;

/**
 * Replaces the rows of all tables by those of another database with the same migrations, in the transactions of both. It needs no
 * superuser: foreign keys are dropped and created again, and triggers do not fire.
 */
export async function copyTables(from: Client, to: Em): Promise<CopiedTables> {
  const tables = await listTables(to);
  const foreignKeys = await listForeignKeys(to);
  for (const { table, name } of foreignKeys) await to.execute(`alter table ${table} drop constraint ${name}`);
  for (const { name } of tables) await to.execute(`alter table ${name} disable trigger user`);
  await to.execute(`truncate ${tables.map(({ name }) => name).join(", ")}`);
  let rows = 0;
  for (const table of tables) rows += await copyRows(from, to, table);
  for (const { name } of tables) await to.execute(`alter table ${name} enable trigger user`);
  for (const { table, name, definition } of foreignKeys)
    await to.execute(`alter table ${table} add constraint ${name} ${definition}`);
  await copySequences(from, to);
  return { tables: tables.length, rows };
}

/** The rows travel as JSON, which has every type of PostgreSQL as text. */
async function copyRows(from: Client, to: Em, { name, columns }: Table): Promise<number> {
  await from.query(`declare copied no scroll cursor for select row_to_json(t)::text as row from ${name} t`);
  let count = 0;
  for (;;) {
    const { rows } = await from.query<{ row: string }>(`fetch ${FETCHED_ROWS} from copied`);
    if (rows.length === 0) break;
    count += rows.length;
    await to.execute(
      `insert into ${name} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${name}, cast(? as json))`,
      [`[${rows.map(({ row }) => row).join(",")}]`],
    );
  }
  await from.query("close copied");
  return count;
}

function listTables(em: Em): Promise<Table[]> {
  return em.execute<Table[]>(
    `select c.oid::regclass::text as name,
            string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where c.relkind = 'r' and ${OF_SERVICE} and c.relname <> 'mikro_orm_migrations'
      group by c.oid order by 1`,
    OTHER_SCHEMAS,
  );
}

function listForeignKeys(em: Em): Promise<ForeignKey[]> {
  return em.execute<ForeignKey[]>(
    `select c.conrelid::regclass::text as table, quote_ident(c.conname) as name, pg_get_constraintdef(c.oid) as definition
       from pg_constraint c join pg_namespace n on n.oid = c.connamespace
      where c.contype = 'f' and ${OF_SERVICE}`,
    OTHER_SCHEMAS,
  );
}

async function copySequences(from: Client, to: Em): Promise<void> {
  const sequences = await to.execute<{ name: string }[]>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'S' and ${OF_SERVICE}`,
    OTHER_SCHEMAS,
  );
  for (const { name } of sequences) {
    const { rows } = await from.query<{ value: string; called: boolean }>(
      `select last_value::text as value, is_called as called from ${name}`,
    );
    const [state] = rows;
    await to.execute(`select setval(?::regclass, ?::bigint, ?::boolean)`, [name, state?.value, state?.called]);
  }
}

const OF_SERVICE = "n.nspname not in (?, ?) and n.nspname not like 'pg\\_%'";
