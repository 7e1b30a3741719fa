import { afterAll, beforeAll, expect, test } from "vitest";
import type { QueryResult } from "../../../domain/ports/app-databases.ts";
import { PostgresReader } from "../../../server/platforms/embedded/app-databases/postgres-reader.ts";
import { publishServer } from "../../support/edge/node-server.ts";
import { bundlePostgresClient } from "../../support/edge/postgres-client.ts";
import { openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";
import { TEST_LIMIT_MS } from "../../support/time-limits.ts";

/** Runs the statement of each request and answers with its rows. */
const SERVER = `
  const http = require("http");
  const pg = require("./client.js");
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
  pool.on("error", () => {});
  http.createServer(async (request, response) => {
    const statement = decodeURIComponent(request.url.slice(1)) || "select 1 as n";
    response.end(JSON.stringify(await pool.query(statement).then(({ rows }) => rows, ({ message }) => message)));
  }).listen(process.env.PORT);`;

let edge: TestPlatform;
let client: string;
beforeAll(async () => {
  client = await bundlePostgresClient();
  edge = await openTestPlatform({ limits: { serverStartTimeoutMs: 20_000 } });
  await publish("shop");
  await publish("other");
});
afterAll(() => edge[Symbol.asyncDispose]());

const signal = AbortSignal.timeout(600_000);
const publish = (slug: string) =>
  publishServer(edge, slug, { "server.js": SERVER, "client.js": client }, { postgres: { variables: {} } });
const run = async (slug: string, sql: string): Promise<unknown> =>
  JSON.parse((await edge.request(slug, `/${encodeURIComponent(sql)}`)).text);
const describeApp = (slug: string) => edge.platform.appDatabases.describe({ slug, appId: `app-${slug}` }, null, signal);
const query = (slug: string, sql: string, limit = 100) =>
  edge.platform.appDatabases.query({ slug, appId: `app-${slug}` }, null, { sql, limit }, signal);
const describeProblem = (result: Promise<QueryResult>) =>
  result.then(
    (value) => JSON.stringify(value),
    ({ message }: Error) => message,
  );
const problemOf = (slug: string, sql: string) => describeProblem(query(slug, sql));

test("the PostgreSQL database of a running server is described and queried", async () => {
  await run("shop", "create table orders (id bigint primary key, paid boolean, note text, data bytea)");
  await run("shop", `create schema "Own"`);
  await run("shop", `create view "Own"."open orders" as select * from orders where not paid`);
  await run(
    "shop",
    String.raw`insert into orders values (1, true, 'one', '\x00ff'), (9007199254740993, false, null, '')`,
  );
  expect(await describeApp("shop")).toEqual({
    kind: "postgres",
    name: "postgres",
    names: ["postgres"],
    bytes: expect.any(Number),
    tables: [
      {
        schema: "public",
        name: "orders",
        kind: "table",
        columns: [
          { name: "id", type: "bigint", is_primary_key: true },
          { name: "paid", type: "boolean", is_primary_key: false },
          { name: "note", type: "text", is_primary_key: false },
          { name: "data", type: "bytea", is_primary_key: false },
        ],
        row_count: 2,
        has_more_rows: false,
      },
      expect.objectContaining({ schema: "Own", name: "open orders", kind: "view", row_count: null }),
    ],
    has_more_tables: false,
  });
  expect(await query("shop", "select *, 1.5::numeric, '{1,2}'::int[] from orders order by id; -- all")).toEqual({
    columns: ["id", "paid", "note", "data", "numeric", "int4"].map((name) => ({ name })),
    rows: [
      [1, true, "one", { base64: "AP8=", bytes: 2 }, "1.5", "{1,2}"],
      ["9007199254740993", false, null, { base64: "", bytes: 0 }, "1.5", "{1,2}"],
    ],
    is_truncated: false,
    duration_ms: expect.any(Number),
  });
  expect(await query("shop", `select id from "Own"."open orders"`)).toMatchObject({ rows: [["9007199254740993"]] });
  expect(await query("shop", "select n from generate_series(1, 1000) n", 25)).toMatchObject({ is_truncated: true });
  expect((await query("shop", "select n from generate_series(1, 25) n", 25)).rows).toHaveLength(25);
  expect((await query("shop", "explain select * from orders")).columns).toEqual([{ name: "QUERY PLAN" }]);
});

test("a statement that changes something, or is not one statement, is refused and changes nothing", async () => {
  await run("shop", "create table kept (n int)");
  await run("shop", "insert into kept values (1)");
  await run("shop", "create sequence numbers");
  await run(
    "shop",
    "create function insert_row() returns int language plpgsql as $$ begin insert into kept values (2); return 1; end $$",
  );
  await run(
    "shop",
    "create function as_owner() returns int language plpgsql security definer as $$ begin perform set_config('transaction_read_only', 'off', false); insert into kept values (3); return 1; end $$",
  );
  const READS_ONLY = /only statements that read are permitted/;
  const statements: [string, RegExp][] = [
    ["delete from kept", READS_ONLY],
    ["/* select */ drop table kept", READS_ONLY],
    ["set transaction read write", READS_ONLY],
    ["commit", READS_ONLY],
    ["", /has no statement/],
    ["-- nothing", /has no statement/],
    ["select 1; delete from kept", /more than one statement/],
    ["select 1; commit; delete from kept", /more than one statement/],
    ["with deleted as (delete from kept returning n) select * from deleted", /PostgreSQL: DECLARE CURSOR must not/],
    ["explain analyze delete from kept", READS_ONLY],
    ["explain select 1; delete from kept", /more than one statement/],
    ["select insert_row()", READS_ONLY],
    ["select as_owner()", /cannot set transaction read-write mode|transaction read-write mode must be set before/],
    ["select set_config('transaction_read_only', 'off', false)", /transaction read-write mode/],
    ["select nextval('numbers')", /permission denied/],
    ["select * into more from kept", /PostgreSQL/],
    ["select * from kept for update", READS_ONLY],
    [
      "select pg_terminate_backend(pid) from pg_stat_activity where usename <> current_user",
      /permission denied|SUPERUSER/i,
    ],
    ["select pg_read_file('/etc/passwd')", /permission denied/],
    ["select passwd from pg_shadow", /permission denied/],
    ["select rolpassword from pg_authid", /permission denied/],
    ["select missing from kept", /PostgreSQL: column "missing" does not exist/],
  ];
  for (const [sql, problem] of statements)
    expect([sql, await problemOf("shop", sql)]).toEqual([sql, expect.stringMatching(problem)]);
  expect(await query("shop", "select n from kept")).toMatchObject({ rows: [[1]] });
});

test("the role that reads can connect to its own database only", async () => {
  const names = await query("other", "select current_user, current_database()");
  const [[user, database] = []] = names.rows;
  expect([user]).toEqual([`${database as string}_reader`]);
  const connect = `select has_database_privilege(datname, 'connect') as can from pg_database where datallowconn and datname <> current_database()`;
  expect(new Set((await query("shop", connect)).rows.flat())).toEqual(new Set([false]));
  expect(await problemOf("other", "select * from orders")).toContain("does not exist");
});

/** Reads the database of `shop` with another limit on time than that of the service. */
function readerWith(timeoutMs: number) {
  const reader = new PostgresReader(edge.platform.data.postgres, timeoutMs);
  const read = (sql: string, limit = 100) => reader.query("db-shop", { sql, limit }, signal);
  return { read, problem: (sql: string) => describeProblem(read(sql)) };
}

test("a statement that runs too long is stopped, with a clear error", async () => {
  const { problem } = readerWith(3000);
  const stopped = "sql: the statement took longer than 3 s and was stopped.";
  // Each batch of rows is a statement of PostgreSQL, and the first one sets no limit for the second.
  const unlimited = "select set_config('statement_timeout', '0', false), pg_sleep(0.2) from generate_series(1, 100)";
  const ended = ["select pg_sleep(60)", unlimited].map((sql) => problem(sql));
  expect(await Promise.all(ended)).toEqual([stopped, stopped]);
  const remaining = "select count(*) from pg_stat_activity where query like '%pg_sleep(%' and pid <> pg_backend_pid()";
  await expect.poll(() => query("shop", remaining)).toMatchObject({ rows: [[0]] });
});

test("a value or a result that is too large ends with a clear error, and a long value is cut", async () => {
  // On a slow disk, the limit on time would come first.
  const { read, problem } = readerWith(TEST_LIMIT_MS);
  const spilling = "with recursive c(n) as (select 1 union all select n from c) select count(*) from c";
  expect(await problem(spilling)).toMatch(/PostgreSQL: temporary file size exceeds/);
  expect(await problem("select repeat('x', 100000000)")).toContain("needs too much memory");
  expect(await problem("select repeat('x', 8000000) from generate_series(1, 100)")).toContain(
    "the result is too large",
  );
  const wide = await read("select repeat('x', 100000) as x from generate_series(1, 500)", 500);
  expect(wide.is_truncated).toBe(true);
  expect(wide.rows[0]).toEqual([{ text: "x".repeat(4096), bytes: 100_000 }]);
  expect(Buffer.byteLength(JSON.stringify(wide.rows))).toBeLessThan(1024 * 1024);
});

test("the database is removed with the role that reads it", async () => {
  await publish("removed");
  await query("removed", "select 1");
  await edge.platform.scripts.unpublish("removed");
  await edge.platform.databases.remove("db-removed");
  const readers = "select count(*) from pg_roles where rolname like '%_reader'";
  expect(await query("shop", readers)).toMatchObject({ rows: [[2]] });
});
