import type pg from "pg";

const OWN = `nspname !~ '^pg_' and nspname <> 'information_schema'`;
const RELATIONS = `from pg_class c join pg_namespace n on n.oid = relnamespace where ${OWN}`;
const OF_EXTENSION = (catalog: string) =>
  `exists (select from pg_depend where classid = '${catalog}'::regclass and objid = ${catalog}.oid and deptype = 'e')`;

/** What a database has, by the functions of PostgreSQL that describe it. Each returns a row with one text. */
const DESCRIPTIONS = {
  columns: `select row_to_json(it)::text from (select table_schema, table_name, column_name, column_default, is_nullable,
      data_type, udt_schema, udt_name, collation_name, character_maximum_length, numeric_precision, numeric_scale, datetime_precision,
      is_identity, identity_generation, identity_start, identity_increment, identity_cycle, is_generated, generation_expression
    from information_schema.columns where table_schema !~ '^pg_' and table_schema <> 'information_schema') it`,
  attributes: `select concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod), attstorage, attcompression,
      coalesce(attstattarget, -1), attislocal, attinhcount, attidentity, attgenerated, attoptions)
    ${RELATIONS.replace("from pg_class", "from pg_attribute join pg_class").replace("c join", "c on c.oid = attrelid join")}
      and attnum > 0 and not attisdropped`,
  relations: `select concat_ws(' ', c.oid::regclass, relkind, relpersistence, relreplident, relrowsecurity, relforcerowsecurity,
      reloptions, relispopulated, relispartition, pg_get_expr(relpartbound, c.oid), pg_get_partkeydef(c.oid), am.amname,
      reloftype::regtype, case when relkind in ('v', 'm') then pg_get_viewdef(c.oid) end)
    ${RELATIONS.replace("where", "left join pg_am am on am.oid = relam where")}`,
  inheritance: "select concat_ws(' ', inhrelid::regclass, inhparent::regclass, inhseqno) from pg_inherits",
  constraints: `select concat_ws(' ', conrelid::regclass, contypid::regtype, conname, contype, convalidated, connoinherit,
      pg_get_constraintdef(oid)) from pg_constraint`,
  indexes: `select concat_ws(' ', pg_get_indexdef(indexrelid), indisprimary, indisclustered, indisreplident, indisvalid) from pg_index
    join pg_class c on c.oid = indexrelid join pg_namespace n on n.oid = relnamespace where ${OWN}`,
  functions: `select concat_ws(' ', oid::regprocedure, case when prokind in ('f', 'p') then pg_get_functiondef(oid) end, prokind,
      obj_description(oid)) from pg_proc where pronamespace not in (select oid from pg_namespace where not (${OWN}))`,
  triggers: "select concat_ws(' ', pg_get_triggerdef(oid), tgenabled) from pg_trigger where not tgisinternal",
  rules: "select pg_get_ruledef(oid) from pg_rewrite where rulename <> '_RETURN' and ev_class > 16384",
  policies: `select concat_ws(' ', polrelid::regclass, polname, polcmd, polpermissive, pg_get_expr(polqual, polrelid),
      pg_get_expr(polwithcheck, polrelid), polroles = '{0}') from pg_policy`,
  statistics: "select pg_get_statisticsobjdef(oid) from pg_statistic_ext",
  sequences: "select row_to_json(s)::jsonb - 'sequenceowner' #>> '{}' from pg_sequences s",
  owned: `select concat_ws(' ', objid::regclass, refobjid::regclass, refobjsubid, deptype) from pg_depend
    where classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass and deptype in ('a', 'i') and objid > 16384
      and (select relkind from pg_class where oid = objid) = 'S'`,
  types: `select concat_ws(' ', t.oid::regtype, typtype, format_type(typbasetype, typtypmod), typnotnull, pg_get_expr(typdefaultbin, 0),
      (select string_agg(enumlabel, ',' order by enumsortorder) from pg_enum where enumtypid = t.oid),
      (select concat_ws(' ', rngsubtype::regtype, rngmultitypid::regtype, rngsubdiff) from pg_range where rngtypid = t.oid))
    from pg_type t join pg_namespace n on n.oid = typnamespace where ${OWN}`,
  operators: `select concat_ws(' ', oid::regoperator, oprcode) from pg_operator where oid > 16384 and not ${OF_EXTENSION("pg_operator")}`,
  aggregates: `select row_to_json(a)::text from (select aggfnoid::text, aggtransfn, aggfinalfn, agginitval from pg_aggregate
    where aggfnoid::oid > 16384) a`,
  casts: `select concat_ws(' ', castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext) from pg_cast where oid > 16384`,
  collations: `select concat_ws(' ', nspname, collname, collprovider, collisdeterministic, colllocale) from pg_collation
    join pg_namespace n on n.oid = collnamespace where ${OWN}`,
  searches: `select concat_ws(' ', cfgname, maptokentype, mapseqno, mapdict::regdictionary) from pg_ts_config
    join pg_ts_config_map on mapcfg = pg_ts_config.oid join pg_namespace n on n.oid = cfgnamespace where ${OWN}`,
  comments: `select concat_ws(' ', pg_describe_object(classoid, objoid, objsubid), description) from pg_description
    where objoid > 16384 and classoid <> 'pg_extension'::regclass`,
  extensions: "select concat_ws(' ', extname, extversion, extnamespace::regnamespace) from pg_extension",
  schemas: `select nspname from pg_namespace where ${OWN}`,
  publications: `select concat_ws(' ', p.pubname, pubinsert, pubupdate, schemaname, tablename, attnames, rowfilter)
    from pg_publication p left join pg_publication_tables t on t.pubname = p.pubname`,
};

/** Describes the schema and the rows of a database. */
export async function describeDatabase(client: pg.Client): Promise<Record<string, string[]>> {
  await client.query("set search_path = pg_catalog");
  const described: Record<string, string[]> = {};
  for (const [name, sql] of Object.entries(DESCRIPTIONS)) described[name] = await readTexts(client, sql);
  // Which hash partition has a value of an enum differs between databases.
  const tables = await readTexts(
    client,
    `select case relkind when 'p' then '' else 'only ' end || c.oid::regclass::text ${RELATIONS} and relkind in ('r', 'm', 'p')
      and relispopulated and pg_get_expr(relpartbound, c.oid) is distinct from 'FOR VALUES WITH (modulus 2, remainder 0)'
      and pg_get_expr(relpartbound, c.oid) is distinct from 'FOR VALUES WITH (modulus 2, remainder 1)'`,
  );
  for (const table of tables)
    described[`rows of ${table}`] = await readTexts(
      client,
      `select concat(count(*), ' ', md5(string_agg(md5(it::text), '' order by md5(it::text)))) from ${table} it`,
    );
  return described;
}

async function readTexts(client: pg.Client, sql: string): Promise<string[]> {
  const { rows } = await client.query<string[]>({ text: sql, rowMode: "array" });
  return rows.map(([text]) => String(text)).toSorted();
}
