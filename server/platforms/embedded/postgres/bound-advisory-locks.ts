/** How many advisory locks one connection may hold. Tools for migrations need one. */
const MAX_LOCKS = 100;

const BODY = `begin
  if (select count(*) from pg_catalog.pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) >= ${MAX_LOCKS} then
    raise configuration_limit_exceeded using message = 'too many advisory locks', detail = 'A connection may hold ${MAX_LOCKS}.';
  end if;
  %s %I(%s);
end`;

/**
 * Replaces the functions that take advisory locks in the database of the connection, because they can fill the table of locks of
 * the whole server faster than the watchdog acts. A function of the same name in `pg_catalog` calls the original one, which apps cannot
 * call themselves. Its body could not be replaced: PostgreSQL calls its own functions by their ids. Safe to repeat.
 */
export const BOUND_ADVISORY_LOCKS = `do $setup$
declare
  original record;
begin
  for original in
    select oid, proname as name, 'unbounded_' || proname as new_name, prorettype::regtype as result,
      pg_get_function_identity_arguments(oid) as arguments, case pronargs when 1 then '$1' else '$1, $2' end as values,
      case prorettype when 'void'::regtype then 'perform' else 'return' end as keyword
    from pg_proc where pronamespace = 'pg_catalog'::regnamespace
      and prolang = (select oid from pg_language where lanname = 'internal')
      and proname ~ '^pg_(try_)?advisory_(xact_)?lock(_shared)?$'
  loop
    execute format('alter function pg_catalog.%I(%s) rename to %I', original.name, original.arguments, original.new_name);
    execute format('revoke execute on function pg_catalog.%I(%s) from public', original.new_name, original.arguments);
    -- Dumps contain the rights of functions of the system that differ from these.
    insert into pg_init_privs (objoid, classoid, objsubid, privtype, initprivs)
      select oid, 'pg_proc'::regclass, 0, 'i', proacl from pg_proc where oid = original.oid;
    execute format(
      'create function pg_catalog.%I(%s) returns %s language plpgsql strict parallel restricted security definer '
        'set search_path = pg_catalog, pg_temp as %L',
      original.name, original.arguments, original.result,
      format(${literal(BODY)}, original.keyword, original.new_name, original.values));
  end loop;
end $setup$`;

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
