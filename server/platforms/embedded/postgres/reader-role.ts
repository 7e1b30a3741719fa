import { randomBytes } from "node:crypto";
import pg from "pg";
import { scramVerifier } from "./scram-verifier.ts";

const ROLE_OPTIONS =
  "login nosuperuser nocreatedb nocreaterole noreplication inherit bypassrls connection limit 3 password";

/** What the role that reads a database has after the name of the database. */
export const READER_SUFFIX = "_reader";

/** The role that reads the database of this name. */
export function readerOf(database: string): string {
  return database + READER_SUFFIX;
}

/**
 * Creates the role that reads a database, or gives it a new password.
 *
 * @returns the password
 */
export async function createReader(pool: pg.Pool, database: string): Promise<string> {
  const reader = readerOf(database);
  const password = randomBytes(24).toString("hex");
  const { rowCount } = await pool.query("select from pg_roles where rolname = $1", [reader]);
  const verifier = pg.escapeLiteral(scramVerifier(password));
  await pool.query(`${rowCount === 0 ? "create" : "alter"} role "${reader}" ${ROLE_OPTIONS} ${verifier}`);
  await pool.query(`alter role "${reader}" set default_transaction_read_only = on`);
  await pool.query(`grant connect on database "${database}" to "${reader}"`);
  return password;
}

const OWN_SCHEMAS = `nspname !~ '^pg_' and nspname <> 'information_schema'`;

/**
 * The statement that lets the role read the tables, views and sequences of its database that it cannot read yet. For a superuser, in
 * the database, with no schema of the app in the search path. `pg_read_all_data` would also permit to read the passwords of all
 * roles.
 */
export function grantReading(database: string): string {
  const reader = pg.escapeLiteral(readerOf(database));
  return `do $$ declare statement text; begin
    for statement in
      select format('grant usage on schema %I to %I', nspname, ${reader}) from pg_namespace
        where ${OWN_SCHEMAS} and not has_schema_privilege(${reader}, oid, 'usage')
      union all
      select format('grant select on table %I.%I to %I', nspname, relname, ${reader})
        from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where ${OWN_SCHEMAS} and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
          and not has_table_privilege(${reader}, pg_class.oid, 'select')
    loop execute statement; end loop;
  end $$`;
}
