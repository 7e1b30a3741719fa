import type pg from "pg";

/** A table with rows. The names are quoted, and have no line breaks. */
export interface DumpedTable {
  name: string;
  /** The table into which its rows are restored. */
  target: string;
  /** In parentheses; empty for a table without columns. */
  columns: string;
}

/**
 * All tables but temporary ones and those of extensions. The hash of a value can depend on the server, so the rows of a hash partition
 * are restored into the partitioned table.
 */
const TABLES = `select array[nspname, relname]::text[] as name,
    (select array[root_schema.nspname, root.relname]::text[]
      from pg_class root join pg_namespace root_schema on root_schema.oid = root.relnamespace
      where root.oid = pg_partition_root(c.oid) and exists (
        select from pg_partition_ancestors(c.oid) as ancestor join pg_partitioned_table on partrelid = relid
          where partstrat = 'h')) as root,
    array(select attname::text from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns
  from pg_class c join pg_namespace n on n.oid = relnamespace
  where relkind = 'r' and relpersistence <> 't' and nspname !~ '^pg_' and nspname <> 'information_schema'
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
  order by c.oid`;

export async function listTables(client: pg.Client): Promise<DumpedTable[]> {
  type Row = { name: string[]; root: string[] | null; columns: string[] };
  const { rows } = await client.query<Row>(TABLES);
  return rows.map(({ name, root, columns }) => ({
    name: quoteName(name),
    target: quoteName(root ?? name),
    columns: columns.length === 0 ? "" : ` (${columns.map(quoteIdentifier).join(", ")})`,
  }));
}

function quoteName(parts: readonly string[]): string {
  return parts.map(quoteIdentifier).join(".");
}

/** Quotes an identifier in one line. */
function quoteIdentifier(name: string): string {
  const quoted = name.replaceAll('"', '""');
  if (!/\p{Cc}/u.test(name)) return `"${quoted}"`;
  const escaped = quoted.replaceAll(/[\p{Cc}\\]/gu, (c) => {
    return c === "\\" ? "\\\\" : `\\${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `U&"${escaped}"`;
}

/** What a database can have that a dump cannot have. */
const PROBLEMS = `
  select 'large objects' as problem where exists (select from pg_largeobject_metadata)
  union all select 'the foreign server ' || quote_ident(srvname) from pg_foreign_server
  union all select 'the event trigger ' || quote_ident(evtname) from pg_event_trigger
    where not exists (select from pg_depend
      where classid = 'pg_event_trigger'::regclass and objid = pg_event_trigger.oid and deptype = 'e')
  union all select 'the policy ' || quote_ident(polname) || ' of another role' from pg_policy
    where exists (select from unnest(polroles) as role(id)
      where id <> 0 and pg_get_userbyid(id) <> $1 and pg_get_userbyid(id) !~ '^pg_')`;

/** @param role - the role of the app */
export async function findProblems(client: pg.Client, role: string): Promise<string[]> {
  return (await client.query<{ problem: string }>(PROBLEMS, [role])).rows.map(({ problem }) => problem);
}
