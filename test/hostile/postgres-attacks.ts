import { once } from "node:events";
import { createServer } from "node:net";
import type { TestPlatform } from "../support/edge/test-platform.ts";
import { type Attack, type AttackResult, judgeHeld } from "./attack.ts";
import {
  appMemoryMb,
  diskMb,
  largest,
  NEIGHBOUR,
  postgresAttack,
  publishWithDatabase,
  startAttack,
} from "./postgres-attack.ts";

const MAX_MEMORY_MB = 2048;
/** Temporary files of 20 connections, notifications and the write-ahead log, or 2 GiB of tables. */
const MAX_DISK_MB = 4096;

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
  "select unbounded_pg_advisory_lock(1)",
  "select unbounded_pg_try_advisory_xact_lock_shared(1, 2)",
  "create function mine(bigint) returns void language internal as 'pg_advisory_lock_int8'",
  "create or replace function pg_catalog.pg_advisory_lock(bigint) returns void language sql as ''",
  "drop function pg_catalog.pg_advisory_lock(bigint)",
  "drop extension plpgsql cascade",
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

/** What a connection keeps in its own memory until it ends. */
const SESSION_MEMORY = `return flood(["listen news",
  "do $$ begin for n in 1..1000000 loop execute format('prepare p_%s as select %s, md5(%s::text)', n, n, n); execute 'listen c_' || n; end loop; end $$"]);`;

/** Rows that are not compressed, and not in the write-ahead log. */
const ROWS = `return flood(["create unlogged table if not exists heap (t text)",
  "insert into heap select repeat('x', 1950) from generate_series(1, 50000)"], 4);`;

const SILENCE = `const sockets = Array.from({ length: 1000 }, () => net.connect(5432, "127.0.0.1").on("error", () => {}));
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return sockets.filter(({ readyState }) => readyState === "open").length + " of 1000 are open";`;

const ENDLESS = `return flood(["set statement_timeout = 0",
  "with recursive t as (select 1 as n union all select n + 1 from t) select count(*) from t where n < 0"]);`;

export const POSTGRES_ATTACKS: readonly Attack[] = [
  postgresAttack("PostgreSQL of an app: rights of the service and of other apps", async (t) => {
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
  postgresAttack("PostgreSQL of an app: startup packets of other users", async (t) => {
    const text = await startAttack(t, STARTUP_PACKETS);
    return { isContained: text === "refused", text };
  }),
  postgresAttack("PostgreSQL of an app: connections without a password", async (t) => {
    return { isContained: true, text: await startAttack(t, SILENCE) };
  }),
  postgresAttack("PostgreSQL of an app: endless statements in all connections", async (t) => {
    return { isContained: true, text: await startAttack(t, ENDLESS) };
  }),
  postgresAttack("PostgreSQL of an app: memory of all connections", async (t) => {
    await startAttack(t, MEMORY);
    return judgeHeld(await largest(appMemoryMb), MAX_MEMORY_MB, "its connections are ended");
  }),
  postgresAttack("PostgreSQL of an app: temporary files", async (t) => {
    await startAttack(t, TEMPORARY_FILES);
    return judgeHeld(await largest(() => diskMb(t)), MAX_DISK_MB, "its statements fail");
  }),
  postgresAttack("PostgreSQL of an app: memory of prepared statements and channels", async (t) => {
    await startAttack(t, SESSION_MEMORY);
    return judgeHeld(await largest(appMemoryMb), MAX_MEMORY_MB, "its connections are ended");
  }),
  postgresAttack("PostgreSQL of an app: rows of all connections", async (t) => {
    await startAttack(t, ROWS);
    const held = await largest(() => diskMb(t));
    const isClosed = t.log.some(({ reason }) => reason === "the database grows too fast");
    return judgeHeld(held, MAX_DISK_MB, isClosed ? "its database is closed for a while" : "as fast as the disk");
  }),
  postgresAttack("PostgreSQL of an app: other servers", attackServers),
  postgresAttack("PostgreSQL of an app: connections that prevent the deletion of its database", attackDeletion),
];

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

/** Looks for every server that a process beside the database can reach: through its own network, through sockets and through SQL. */
async function attackServers(t: TestPlatform): Promise<AttackResult> {
  const server = createServer((socket) => socket.end("reached"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const attack = `const reached = [];
    const tryPort = (host, port) => new Promise((resolve) => {
      const socket = net.connect(port, host, () => {
        // A connection from a port to itself has no server.
        if (socket.localPort !== port) reached.push(host + ":" + port);
        socket.destroy();
      });
      socket.on("close", resolve).on("error", () => {});
    });
    for (const host of ["127.0.0.1", "::1"]) for (let port = 1; port < 65536; port += 500)
      await Promise.all(Array.from({ length: 500 }, (_, n) => tryPort(host, Math.min(port + n, 65535))));
    const db = await connect();
    const { rows } = await db.query("select datname as name from pg_database where datname !~ '^(app_|postgres$|template)'");
    const find = require("child_process").spawnSync("find", ["/", "-type", "s", "-not", "-path", "/proc/*"], { encoding: "utf8" });
    const sockets = find.stdout.trim().split("\\n");
    return [...new Set([...reached, ...sockets, ...rows.map(({ name }) => name)])].join(" ");`;
  try {
    const text = await startAttack(t, attack);
    const own = /^((127\.0\.0\.1|::1):(3000|5432)|\/run\/egress\/control\.sock|\/run\/app(\/\d+\.sock)?|)$/;
    const foreign = text.split(" ").filter((each) => !own.test(each));
    return { isContained: foreign.length === 0, text: foreign.join(" ") || `nothing but ${text}` };
  } finally {
    server.close();
  }
}
