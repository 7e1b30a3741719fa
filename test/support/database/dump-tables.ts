import type { EntityManager } from "@mikro-orm/sql";

/** Returns the text of every row of every table of the database, in all schemas, to search for what must not be stored. */
export async function dumpTables(em: EntityManager): Promise<string> {
  const tables = await em.execute<{ name: string }[]>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const dumped: string[] = [];
  for (const { name } of tables) {
    const rows = await em.execute<{ row: string }[]>(`select t::text as row from ${name} t`);
    dumped.push(name, ...rows.map(({ row }) => row));
  }
  return dumped.join("\n");
}
