import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appsPostgres } from "../../../server/composition/edge.ts";
import { AppPostgres } from "../../../server/platforms/embedded/postgres/app-postgres.ts";
import {
  type PostgresLimits,
  PostgresWatchdog,
} from "../../../server/platforms/embedded/postgres/postgres-watchdog.ts";
import type { PostgresDatabase, PostgresServer } from "../../../server/ports/postgres.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { memoryFolder } from "../../support/memory-folder.ts";

const resources = new AsyncDisposableStack();
const log = createLogger("silent");
let server: PostgresServer;
let postgres: AppPostgres;

beforeAll(async () => {
  const { path: dataDirectory } = resources.use(await memoryFolder());
  server = await appsPostgres({ appsDatabaseUrl: null, databaseUrl: null, dataDirectory }, log).open();
  postgres = resources.use(new AppPostgres({ open: async () => server, exists: () => true, log }));
});
afterAll(() => resources.disposeAsync());

async function connect({ name, password }: PostgresDatabase): Promise<pg.Client> {
  const url = new URL(server.url);
  Object.assign(url, { username: name, password, pathname: `/${name}` });
  const client = new pg.Client({ connectionString: url.href });
  client.on("error", () => {});
  await client.connect();
  resources.defer(() => client.end());
  return client;
}

async function watch(limits: Partial<PostgresLimits>): Promise<AsyncDisposable> {
  const pool = new pg.Pool({ connectionString: server.url });
  const watchdog = new PostgresWatchdog(pool, { measuresMemory: true, log, limits: { intervalMs: 50, ...limits } });
  return {
    async [Symbol.asyncDispose]() {
      watchdog.stop();
      await pool.end();
    },
  };
}

const ENDED = /terminating connection due to administrator command|Connection terminated/;

test("a statement that takes too long is ended, although the role turned its own limit off", async () => {
  await using _watchdog = await watch({ statementMs: 200 });
  const client = await connect(await postgres.open("db-slow"));
  await client.query("set statement_timeout = 0");
  await expect(client.query("select pg_sleep(60)")).rejects.toThrow(ENDED);
});

test("a transaction in which nothing happens is ended, and its locks are free", async () => {
  await using _watchdog = await watch({ idleTransactionMs: 200 });
  const database = await postgres.open("db-idle");
  const [idle, other] = [await connect(database), await connect(database)];
  await other.query("create table locked (n int)");
  await idle.query("set idle_in_transaction_session_timeout = 0");
  await idle.query("begin");
  await idle.query("lock table locked");
  await other.query("insert into locked values (1)");
  await expect(idle.query("select 1")).rejects.toThrow(/terminat|ended|closed|not queryable/);
});

test("if the connections of apps use too much memory, those of the app that uses most are ended", async () => {
  await using _watchdog = await watch({ memoryMb: 64 });
  const [large, small] = [
    await connect(await postgres.open("db-large")),
    await connect(await postgres.open("db-small")),
  ];
  const allocate = "select length(repeat('x', 150000000)), pg_sleep(30)";
  await expect(large.query(allocate)).rejects.toThrow(ENDED);
  expect((await small.query("select 1 as n")).rows).toEqual([{ n: 1 }]);
});

test("a query that needs more memory than a process may use fails, and its connection goes on", async () => {
  const client = await connect(await postgres.open("db-memory"));
  await client.query("set work_mem = '2GB'");
  await expect(client.query("select length(repeat('x', 900000000))")).rejects.toThrow("out of memory");
  expect((await client.query("select 1 as n")).rows).toEqual([{ n: 1 }]);
});

test("an app has a bounded number of connections, and those of others are free", async () => {
  const database = await postgres.open("db-connections");
  const results = await Promise.allSettled(Array.from({ length: 25 }, () => connect(database)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
  await connect(await postgres.open("db-other"));
});

test("an app that grants rights to another role does not prevent its removal", async () => {
  const [giver, taker] = [await postgres.open("db-giver"), await postgres.open("db-taker")];
  const client = await connect(giver);
  await client.query(`create table gift (n int)`);
  await client.query(`grant select on gift to "${taker.name}"`);
  await postgres.remove("db-taker");
  expect(await postgres.list()).not.toContain("db-taker");
  const { rows } = await client.query("select rolname from pg_roles where rolname = $1", [taker.name]);
  expect(rows).toEqual([]);
});

test("a database whose creation was interrupted is completed by the next call", async () => {
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const { name } = await postgres.open("db-interrupted");
  await admin.query("update service.app_databases set is_complete = false where name = $1", [name]);
  await admin.query(`drop database "${name}"`);
  await admin.end();
  const client = await connect(await postgres.open("db-interrupted"));
  await client.query("create table complete (n int)");
});
