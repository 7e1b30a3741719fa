import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openNodeServers } from "../../server/composition/edge.ts";
import { publishServer } from "../support/edge/node-server.ts";
import { bundlePostgresClient } from "../support/edge/postgres-client.ts";
import { openTestPlatform, type TestPlatform } from "../support/edge/test-platform.ts";
import { type Attack, type AttackEnvironment, type AttackResult, judgeHeld } from "./attack.ts";

/** How long an attack holds what it can. The limits of PostgreSQL are checked every two seconds. */
const HELD_MS = 12_000;
const MAX_MEMORY_MB = 2048;
/** Temporary files of 20 connections, notifications and the write-ahead log. */
const MAX_DISK_MB = 4096;
const NEIGHBOUR_TIMEOUT_MS = 30_000;

/** Each request needs a new connection, a lock in the memory that all databases share, and a notification. */
const NEIGHBOUR = `const { Client } = require("./client.js");
  const visit = async () => {
    const db = new Client();
    db.on("error", () => {});
    await db.connect();
    try {
      for (const each of ["create table if not exists visits (n int)", "drop table visits", "listen news", "notify news"]) await db.query(each);
    } finally { await db.end(); }
    return "fine";
  };
  require("http").createServer((request, response) => {
    visit().catch((error) => error.message).then((text) => response.end(text));
  }).listen(process.env.PORT);`;

const HOSTILE = (attack: string) => `
  const net = require("net");
  const { Client } = require("./client.js");
  const connect = async (options) => {
    const client = new Client(options);
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  /** Runs a statement again and again, in as many connections as it gets. */
  const flood = (statements, connections = 25) => {
    for (let n = 0; n < connections; n++) void (async () => {
      for (;;) try {
        const db = await connect();
        for (;;) for (const each of statements) await db.query(each);
      } catch { await new Promise((resolve) => setTimeout(resolve, 50)); }
    })();
    return "started";
  };
  const attack = async () => { ${attack} };
  require("http").createServer(({ url }, response) => {
    if (url !== "/attack") return response.end("fine");
    attack().catch((error) => error.message).then((text) => response.end(String(text)));
  }).listen(process.env.PORT);`;

/** Each must fail. */
const FORBIDDEN = [
  "select rolpassword from pg_authid",
  "select passwd from pg_shadow",
  "select * from service.app_databases",
  ...["dblink", "postgres_fdw", "file_fdw", "pageinspect", "plpython3u", "pg_buffercache", "amcheck"].map(
    (name) => `create extension ${name}`,
  ),
  "select lo_import('/etc/passwd')",
  "select lo_export(lo_from_bytea(0, 'x'), '/tmp/x')",
  ...["pg_read_file('/etc/passwd')", "pg_read_binary_file('PG_VERSION')", "pg_ls_dir('.')", "pg_stat_file('.')"].map(
    (call) => `select ${call}`,
  ),
  "copy (select 1) to program 'id'",
  "copy (select 1) to '/tmp/x'",
  "create temporary table lines (line text); copy lines from '/etc/passwd'",
  "create function run(text) returns int language c as 'libc.so.6', 'system'",
  "create function pg_catalog.mine() returns int language sql as 'select 1'",
  "create or replace function pg_catalog.pg_database_size(name) returns bigint language sql as 'select 1::bigint'",
  "create event trigger mine on sql_drop execute function pg_catalog.suppress_redundant_updates_trigger()",
  "set role service",
  "set session authorization service",
  "grant service to current_user",
  "grant pg_read_all_data to current_user",
  "alter role current_user superuser",
  "alter role current_user connection limit 100",
  "alter role service set search_path = public",
  "alter role all set work_mem = '1GB'",
  "alter database postgres set default_transaction_read_only = on",
  "do $$ begin execute format('alter database %I set search_path = public', current_database()); end $$",
  "do $$ begin execute format('alter database %I allow_connections false', current_database()); end $$",
  "alter system set work_mem = '1GB'",
  "create subscription s connection 'host=127.0.0.1' publication p",
  "create tablespace t location '/tmp'",
  "create database more",
  "create role more",
  "begin; create table p (n int); prepare transaction 'p'",
  "set temp_file_limit = -1",
  "set log_min_messages = debug5",
  "set session_preload_libraries = 'x'",
  "load 'x'",
  "do $$ begin execute format('reindex system %I', current_database()); end $$",
  "update pg_database set datconnlimit = 0",
  "insert into pg_auth_members (roleid, member, grantor) select 10, oid, 10 from pg_roles where rolname = current_user",
  ...["pg_database in share mode", "pg_authid in access share mode", "pg_class in row exclusive mode"].map(
    (table) => `begin; lock table ${table}`,
  ),
  "select pg_reload_conf()",
  "select pg_switch_wal()",
  "select pg_create_physical_replication_slot('s')",
  "select pg_create_logical_replication_slot('s', 'pgoutput')",
  "select 1 / count(*) from pg_stat_activity where usename <> current_user and query not in ('<insufficient privilege>', '')",
  "select 1 / count(*) from (select pg_terminate_backend(pid) from pg_stat_activity where usename <> current_user) as ended",
];

/** Startup packets of other users, of replication and of no protocol at all. Returns those that the server lets in. */
const STARTUP_PACKETS = `
  const { rows } = await (await connect()).query("select rolname as name from pg_roles");
  const users = rows.map(({ name }) => name);
  const packet = (values) => {
    const body = Buffer.concat([Buffer.from([0, 3, 0, 0]), Buffer.from(Object.entries(values).flat().join("\\0") + "\\0\\0")]);
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([length, body]);
  };
  const packets = [
    ...users.flatMap((user) => ["postgres", "template1", user].map((database) => packet({ user, database }))),
    packet({ user: "service", database: "postgres", replication: "true" }),
    packet({ user: "service", database: "postgres", options: "-c session_authorization=service" }),
    Buffer.alloc(100000, 255), Buffer.alloc(8), Buffer.from("GET / HTTP/1.1\\r\\n\\r\\n"),
  ];
  const accepted = [];
  for (const each of packets) await new Promise((resolve) => {
    const socket = net.connect(5432, "127.0.0.1", () => socket.write(each));
    socket.setTimeout(1000, () => socket.destroy());
    // An authentication message with the code 0 means that no password is required.
    socket.on("data", (data) => {
      if (data[0] === 82 && data.readInt32BE(5) === 0) accepted.push(each.toString());
      socket.destroy();
    }).on("close", resolve).on("error", resolve);
  });
  return accepted.join() || "refused";`;

/** A sort and an aggregate that need as much memory as they get. */
const MEMORY = `return flood(["set work_mem = '2GB'",
  "select count(*) from (select repeat(md5(g::text), 40) as t from generate_series(1, 3000000) g order by t) s",
  "select length(string_agg(repeat(md5(g::text), 40), '')) from generate_series(1, 800000) g"]);`;

const TEMPORARY_FILES = `return flood(["set work_mem = '64kB'",
  "select count(*) from (select repeat(md5(g::text), 40) as t from generate_series(1, 3000000) g order by t) s"]);`;

const NOTIFICATIONS = `const listener = await connect();
  for (const each of ["listen news", "begin", "select 1"]) await listener.query(each);
  return flood(["select pg_notify('news', repeat('x', 7000) || g) from generate_series(1, 10000) g"], 5);`;

const LOCKS = `return flood(["select count(pg_advisory_lock(g)) from generate_series(1, 1000000) g"], 3);`;

const SILENCE = `const sockets = Array.from({ length: 1000 }, () => net.connect(5432, "127.0.0.1").on("error", () => {}));
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return sockets.filter(({ readyState }) => readyState === "open").length + " of 1000 are open";`;

const ENDLESS = `return flood(["set statement_timeout = 0",
  "with recursive t as (select 1 as n union all select n + 1 from t) select count(*) from t where n < 0"]);`;

export const POSTGRES_ATTACKS: readonly Attack[] = [
  attackNamed("PostgreSQL of an app: rights of the service and of other apps", async (t) => {
    const attempts = `const db = await connect();
      const done = [];
      for (const each of ${JSON.stringify(FORBIDDEN)}) {
        await db.query(each).then(() => done.push(each), () => {});
        await db.query("rollback");
      }
      return done.join("; ") || "refused";`;
    const text = await startAttack(t, attempts);
    return { isContained: text === "refused", text };
  }),
  attackNamed("PostgreSQL of an app: startup packets of other users", async (t) => {
    const text = await startAttack(t, STARTUP_PACKETS);
    return { isContained: text === "refused", text };
  }),
  attackNamed("PostgreSQL of an app: connections without a password", async (t) => {
    return { isContained: true, text: await startAttack(t, SILENCE) };
  }),
  attackNamed("PostgreSQL of an app: endless statements in all connections", async (t) => {
    return { isContained: true, text: await startAttack(t, ENDLESS) };
  }),
  attackNamed("PostgreSQL of an app: memory of all connections", async (t) => {
    await startAttack(t, MEMORY);
    return judgeHeld(await largest(appMemoryMb), MAX_MEMORY_MB, "its connections are ended");
  }),
  attackNamed("PostgreSQL of an app: temporary files", async (t) => {
    await startAttack(t, TEMPORARY_FILES);
    return judgeHeld(await largest(() => diskMb(t)), MAX_DISK_MB, "its statements fail");
  }),
  attackNamed("PostgreSQL of an app: notifications while a listener is in a transaction", async (t) => {
    await startAttack(t, NOTIFICATIONS);
    return judgeHeld(await largest(() => diskMb(t)), MAX_DISK_MB, "the listener is ended");
  }),
  attackNamed("PostgreSQL of an app: locks", async (t) => {
    await startAttack(t, LOCKS);
    await sleep(HELD_MS);
    return { isContained: true, text: "the other app gets locks" };
  }),
  attackNamed("PostgreSQL of an app: connections that prevent the deletion of its database", attackDeletion),
];

async function startAttack(t: TestPlatform, attack: string): Promise<string> {
  await publishWithDatabase(t, "hostile", HOSTILE(attack));
  return (await t.request("hostile", "/attack")).text;
}

async function publishWithDatabase(t: TestPlatform, slug: string, code: string): Promise<void> {
  const files = { "server.js": code, "client.js": await bundlePostgresClient() };
  await publishServer(t, slug, files, { postgres: { variables: {} } });
}

/** An attack beside another app with a database, which must respond while the attack continues. */
function attackNamed(name: string, attack: (t: TestPlatform) => Promise<AttackResult>): Attack {
  const run = async ({ groups }: AttackEnvironment): Promise<AttackResult> => {
    const nodeServers = openNodeServers({ sandbox: "bubblewrap" }, groups);
    await using t = await openTestPlatform({ groups, nodeServers, limits: { hangMs: 60_000 } });
    await publishWithDatabase(t, "neighbour", NEIGHBOUR);
    const { isContained, text } = await attack(t);
    const response = await responseOfNeighbour(t);
    if (response === "fine") return { isContained, text };
    return { isContained: false, text: `${text}; the other app responds: ${response}` };
  };
  return { name, through: "app", run };
}

/** Until the watchdog has ended the connections that it must end, the other app may get errors. */
async function responseOfNeighbour(t: TestPlatform): Promise<string> {
  let text = "";
  for (const startedAt = Date.now(); Date.now() - startedAt < NEIGHBOUR_TIMEOUT_MS; await sleep(100)) {
    ({ text } = await t.request("neighbour").catch((error: unknown) => ({ text: String(error) })));
    if (text === "fine") break;
  }
  return text;
}

async function largest(measure: () => Promise<number>): Promise<number> {
  let held = 0;
  for (const startedAt = Date.now(); Date.now() - startedAt < HELD_MS; await sleep(100))
    held = Math.max(held, await measure());
  return Math.ceil(held);
}

/** Private memory of the processes that serve connections of apps. */
async function appMemoryMb(): Promise<number> {
  const read = (pid: string, file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
  let kilobytes = 0;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name)))
    if ((await read(pid, "cmdline")).startsWith("postgres: app_"))
      kilobytes += Number(/^RssAnon:\s+(\d+) kB$/m.exec(await read(pid, "status"))?.[1] ?? 0);
  return kilobytes / 1024;
}

async function diskMb({ dataDirectory }: TestPlatform): Promise<number> {
  const folder = path.join(dataDirectory, "apps-database");
  const files = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) =>
      stat(path.join(file.parentPath, file.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1024 ** 2;
}

/** Connects again while its database is removed, and has granted rights to the roles of the others. */
async function attackDeletion(t: TestPlatform): Promise<AttackResult> {
  await publishWithDatabase(t, "third", NEIGHBOUR);
  const attack = `const db = await connect();
    await db.query(\`create table t (n int);
      do $$ declare each record; begin
        for each in select rolname from pg_roles where rolname like 'app\\\\_%' and rolname <> current_user loop
          execute format('grant all on t to %I', each.rolname);
          execute format('alter default privileges grant all on tables to %I', each.rolname);
        end loop; end $$\`);
    return flood(["begin", "lock table t in row exclusive mode", "create table if not exists u (n int)", "commit"]);`;
  const started = await startAttack(t, attack);
  await t.platform.scripts.unpublish("third");
  await t.platform.databases.remove("db-third");
  await t.platform.databases.remove("db-hostile");
  const left = await t.platform.databases.list();
  const isContained = started === "started" && !left.includes("db-third") && !left.includes("db-hostile");
  return { isContained, text: isContained ? "both databases are removed" : `${started}; left: ${left.join()}` };
}
