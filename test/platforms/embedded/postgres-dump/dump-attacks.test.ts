import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import { DumpHarness } from "./dump-harness.ts";

let harness: DumpHarness;
beforeAll(async () => {
  harness = await DumpHarness.open();
});
afterAll(() => harness[Symbol.asyncDispose]());

const WRITTEN = "/tmp/written-by-an-import";

async function problemOf(files: Record<string, string>, maxBytes?: number): Promise<string> {
  try {
    await harness.import(files, { ...(maxBytes !== undefined && { maxBytes }) });
    return "";
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
}

test("a dump of a stranger has no rights beyond the database of the app", async () => {
  const victim = await harness.postgres.open(harness.newId());
  const refused = [
    `copy (select 1) to program 'touch ${WRITTEN}'`,
    `copy (select 1) to '${WRITTEN}'`,
    `create table t (l text); copy t from '/etc/passwd'`,
    "select pg_read_file('/etc/passwd')",
    "select lo_import('/etc/passwd')",
    "create role another",
    "alter role current_user superuser",
    `alter role ${victim.name} password 'x'`,
    `set role ${victim.name}`,
    "set session authorization postgres",
    `drop database ${victim.name}`,
    "create database another",
    "create extension file_fdw",
    "create extension dblink",
    "create language plpython3u",
    `create function f() returns int language c as '${WRITTEN}'`,
    "create function f() returns int language internal as 'pg_read_file'",
    "alter system set shared_buffers = 1",
    "select pg_reload_conf()",
    "create event trigger e on ddl_command_start execute function f()",
    "create publication all_tables for all tables",
    "select * from pg_authid",
    "create table pg_catalog.t (n int)",
    "alter function pg_catalog.pg_advisory_lock(bigint) owner to current_user",
    String.raw`\! touch ${WRITTEN}`,
    "create table t (n int); copy t from stdin",
  ];
  for (const sql of refused) expect([sql, await problemOf({ "0-schema.sql": `${sql};` })]).not.toContain("");
  expect(existsSync(WRITTEN)).toBe(false);
  await rm(WRITTEN, { force: true });
});

test("the rows of a table begin with the statement that copies them", async () => {
  const schema = "create table t (n int)";
  for (const head of ["", "x", `COPY "public"."t" (n) FROM stdin;`, `COPY "public"."t" FROM PROGRAM 'id';`])
    expect(await problemOf({ "0-schema.sql": schema, "1-rows-000000.sql": `${head}\n1\n` })).toBe(
      "file: the rows of a table do not begin with COPY.",
    );
  const rows = (text: string) => ({
    "0-schema.sql": schema,
    "1-rows-000000.sql": `COPY "public"."t" ("n") FROM stdin;\n${text}`,
  });
  expect(await problemOf(rows("1\nx\n"))).toBe(
    'file: PostgreSQL refuses the database: invalid input syntax for type integer: "x" (COPY t, line 2, column n: "x").',
  );
  expect(await problemOf(rows("1\n2\n\\.\n"))).toBe("");
});

test("what a dump returns, prints or stores is bounded", async () => {
  for (const sql of [
    "select repeat('x', 1000) from generate_series(1, 100000)",
    "select repeat('x', 500000000)",
    "do $$ begin loop raise warning '%', repeat('x', 10000); end loop; end $$",
    "copy (select repeat('x', 1000) from generate_series(1, 100000)) to stdout",
  ])
    expect([sql, await problemOf({ "0-schema.sql": sql })]).toEqual([
      sql,
      expect.stringMatching(/^file: the database returns too much while it is restored|out of memory/),
    ]);
  const growing =
    "create table t (l text); do $$ begin for n in 1..1000 loop insert into t select repeat('x', 1000) from generate_series(1, 10000); end loop; end $$";
  expect(await problemOf({ "0-schema.sql": growing }, 100 * 1024 ** 2)).toBe(
    "The database becomes larger than the 100 MiB that the plan permits for an app.",
  );
  const tables =
    "do $$ begin for n in 1..100000 loop execute 'create table t' || n || ' (id serial primary key)'; end loop; end $$";
  expect(await problemOf({ "0-schema.sql": tables })).toMatch(/too many locks|out of shared memory/);
});

test("a dump that ends its own connection is refused", async () => {
  expect(await problemOf({ "0-schema.sql": "select pg_terminate_backend(pg_backend_pid())" })).toBe(
    "file: the connection that restores the database was ended.",
  );
});
