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
import { eventually } from "../../support/edge/test-platform.ts";
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

function watch(limits: Partial<PostgresLimits>): AsyncDisposable {
  const options = { measuresMemory: true, log, limits: { intervalMs: 50, ...limits } };
  const watchdog = new PostgresWatchdog(server.url, options);
  return { [Symbol.asyncDispose]: () => watchdog.stop() };
}

async function asAdmin(work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await work(admin);
  await admin.end();
}

async function repeat(work: () => Promise<unknown>): Promise<never> {
  for (;;) await work();
}

function onEachTable(statement: string): string {
  return `do $$ begin for n in 1..300 loop execute format('${statement}', n); end loop; end $$`;
}

/** What the client reports depends on whether it runs a statement when its connection ends. */
const ENDED = /terminating connection due to administrator command|Connection terminated|not queryable/;

test("a statement that takes too long is ended, although the role turned its own limit off", async () => {
  await using _watchdog = watch({ statementMs: 200 });
  const client = await connect(await postgres.open("db-slow"));
  await client.query("set statement_timeout = 0");
  await expect(client.query("select pg_sleep(60)")).rejects.toThrow(ENDED);
});

test("a transaction in which nothing happens is ended, and its locks are free", async () => {
  await using _watchdog = watch({ idleTransactionMs: 200 });
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
  await using _watchdog = watch({ memoryMb: 64 });
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

test("an app that takes too many locks cannot connect for a while, and its neighbour keeps working", async () => {
  await using _watchdog = watch({ locks: 500, closedMs: 500 });
  const [many, few] = [await postgres.open("db-many"), await postgres.open("db-few")];
  const [client, neighbour] = [await connect(many), await connect(few)];
  await client.query(onEachTable("create table t_%s ()"));
  const locking = [client, await connect(many)].map(async (each) => {
    await each.query("begin");
    await each.query(onEachTable("lock table t_%s in access share mode"));
    await each.query("select pg_sleep(30)");
  });
  for (const each of await Promise.allSettled(locking)) expect(each).toMatchObject({ reason: expect.any(Error) });
  await expect(connect(many)).rejects.toThrow("too many connections for role");
  expect((await neighbour.query("select 1 as n")).rows).toEqual([{ n: 1 }]);
  await eventually(() => connect(many).catch(() => undefined));
});

test("the locks of serializable transactions count, also if their connections have ended", async () => {
  await using _watchdog = watch({ locks: 500, closedMs: 500 });
  const database = await postgres.open("db-serializable");
  const oldest = await connect(database);
  await oldest.query(onEachTable("create table t_%s ()"));
  await oldest.query("begin isolation level serializable; select from t_1");
  const oldestEnds = async () => {
    await expect(oldest.query("select pg_sleep(300)")).rejects.toThrow(ENDED);
  };
  const readAll = async () => {
    const client = await connect(database);
    await client.query("begin isolation level serializable");
    await client.query(onEachTable("select from t_%s"));
    await client.query("commit");
    await client.end();
  };
  await Promise.all([oldestEnds(), Promise.allSettled([readAll(), readAll()])]);
});

test("a database that grows too fast is closed for a while", async () => {
  await using _watchdog = watch({ growthMb: 16, closedMs: 500 });
  const database = await postgres.open("db-growing");
  const client = await connect(database);
  await client.query("create table numbers (n int)");
  const insert = "insert into numbers select generate_series(1, 100000)";
  await expect(repeat(() => client.query(insert))).rejects.toThrow(ENDED);
  await eventually(() => connect(database).catch(() => undefined));
});

test("a service that ended while an app could not connect lets it connect again", async () => {
  const database = await postgres.open("db-closed");
  await asAdmin((admin) => admin.query(`alter role "${database.name}" connection limit 0`));
  await expect(connect(database)).rejects.toThrow("too many connections for role");
  await using _watchdog = watch({});
  await eventually(() => connect(database).catch(() => undefined));
});

test("advisory locks work as usual, and a connection may hold 100 of them", async () => {
  const database = await postgres.open("db-advisory");
  const [one, other] = [await connect(database), await connect(database)];
  const tryLock = async (client: pg.Client, key: string, name = "pg_try_advisory_lock") =>
    (await client.query<{ taken: boolean }>(`select ${name}(${key}) as taken`)).rows[0]?.taken;
  await one.query("select pg_advisory_lock(72707369), pg_advisory_lock_shared(1, 2)");
  expect(await tryLock(other, "72707369")).toBe(false);
  expect(await tryLock(other, "1, 2", "pg_try_advisory_lock_shared")).toBe(true);
  await one.query("select pg_advisory_unlock(72707369)");
  expect(await tryLock(other, "72707369")).toBe(true);
  await one.query("begin; select pg_advisory_xact_lock(3)");
  expect(await tryLock(other, "3")).toBe(false);
  await one.query("commit");
  expect(await tryLock(other, "3")).toBe(true);
  await other.query("select pg_advisory_unlock_all()");
  const many = (last: number) => `select count(pg_advisory_lock(n)) as n from generate_series(1001, ${last}) n`;
  expect((await other.query(many(1100))).rows).toEqual([{ n: "100" }]);
  await expect(other.query(many(1101))).rejects.toThrow("too many advisory locks");
});

test("an app can neither call, nor replace, nor remove the functions behind its advisory locks", async () => {
  const client = await connect(await postgres.open("db-behind"));
  for (const statement of [
    "select unbounded_pg_advisory_lock(1)",
    "select unbounded_pg_try_advisory_xact_lock_shared(1, 2)",
    "create function mine(bigint) returns void language internal as 'pg_advisory_lock_int8'",
    "create or replace function pg_catalog.pg_advisory_lock(bigint) returns void language sql as ''",
    "drop function pg_catalog.pg_advisory_lock(bigint)",
    "alter function pg_catalog.pg_advisory_lock(bigint) rename to mine",
  ])
    await expect(client.query(statement)).rejects.toThrow(/permission denied|must be owner/);
  const dumped = `select proname from pg_proc left join pg_init_privs on objoid = pg_proc.oid and classoid = 'pg_proc'::regclass
    where proname ~ 'advisory' and proacl is distinct from initprivs`;
  expect((await client.query(dumped)).rows).toEqual([]);
});

test("a database that an earlier version of the service created gets bounded advisory locks when it is opened", async () => {
  const { name } = await postgres.open("db-earlier");
  await asAdmin(async (admin) => {
    await admin.query(`drop database "${name}"`);
    await admin.query(`create database "${name}" template template0`);
    await admin.query("update service.app_databases set setup_version = 0 where name = $1", [name]);
  });
  const client = await connect(await postgres.open("db-earlier"));
  const many = "select pg_advisory_lock(n) from generate_series(1, 101) n";
  await expect(client.query(many)).rejects.toThrow("too many advisory locks");
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
  const { name } = await postgres.open("db-interrupted");
  await asAdmin(async (admin) => {
    await admin.query("update service.app_databases set setup_version = 0 where name = $1", [name]);
    await admin.query(`drop database "${name}"`);
  });
  const client = await connect(await postgres.open("db-interrupted"));
  await client.query("create table complete (n int)");
});
