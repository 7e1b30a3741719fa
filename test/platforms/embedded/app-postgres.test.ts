import { afterAll, beforeAll, expect, test } from "vitest";
import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { publishServer } from "../../support/edge/node-server.ts";
import { bundlePostgresClient, bundlePostgresJs } from "../../support/edge/postgres-client.ts";
import { openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";

let edge: TestPlatform;
let client: string;

/** Runs the statement of each request and answers with its rows. */
const SERVER = `
  const http = require("http");
  const pg = require("./client.js");
  const pool = new pg.Pool(process.env.DB_HOST
    ? { host: process.env.DB_HOST, port: process.env.DB_PORT, user: process.env.DB_USER,
        password: process.env.DB_PASSWORD, database: process.env.DB_NAME }
    : { connectionString: process.env.DATABASE_URL });
  pool.on("error", () => {});
  http.createServer(async (request, response) => {
    const statement = decodeURIComponent(request.url.slice(1)) || "select 1 as n";
    response.end(JSON.stringify(await pool.query(statement).then(({ rows }) => rows, ({ message }) => message)));
  }).listen(process.env.PORT);`;

const POSTGRES = { variables: {} };

beforeAll(async () => {
  client = await bundlePostgresClient();
  edge = await openTestPlatform({ limits: { serverStartTimeoutMs: 20_000, maxActive: 100 } });
});
afterAll(() => edge[Symbol.asyncDispose]());

const publish = (slug: string, options: Parameters<typeof publishServer>[3] = {}, more = {}) =>
  publishServer(edge, slug, { "server.js": SERVER, "client.js": client, ...more }, { postgres: POSTGRES, ...options });
const query = async (slug: string, statement: string): Promise<unknown> =>
  JSON.parse((await edge.request(slug, `/${encodeURIComponent(statement)}`)).text);

test("a server has a database of its own, which keeps its rows and is removed with the app", async () => {
  await publish("rows");
  await query("rows", "create table visits (n int)");
  await query("rows", "insert into visits values (7)");
  await publish("rows", { generation: 2 });
  expect(await query("rows", "select n from visits")).toEqual([{ n: 7 }]);
  expect(await edge.platform.databases.list()).toContain("db-rows");
  const [{ name } = {}] = (await query("rows", "select current_database() as name")) as { name?: string }[];
  expect(name).toMatch(/^app_[0-9a-f]{20}$/);
  await edge.platform.scripts.unpublish("rows");
  await edge.platform.databases.remove("db-rows");
  expect(await edge.platform.databases.list()).not.toContain("db-rows");
  await publish("other");
  const left = `select datname as name from pg_database union select rolname from pg_roles`;
  expect(await query("other", left)).not.toContainEqual({ name });
});

test("the names that the image of PostgreSQL for containers uses are set too", async () => {
  const server = SERVER.replace("DB_NAME", "POSTGRES_DB").replaceAll(/\bDB_/g, "POSTGRES_");
  await publish("container", {}, { "server.js": server.replaceAll("DATABASE_URL", "NONE") });
  expect(await query("container", "select current_user = current_database() as n")).toEqual([{ n: true }]);
});

test("the variables that a project names for the parts of its database are set too", async () => {
  const variables = { DB_HOST: "host", DB_PORT: "port", DB_USER: "user", DB_PASSWORD: "password", DB_NAME: "database" };
  await publish("parts", { postgres: { variables: variables as Record<string, "host"> } });
  expect(await query("parts", "select 1 as n")).toEqual([{ n: 1 }]);
});

/** Connects with each setting that applications have for hosted databases, and answers with what each of them resulted in. */
const ENCRYPTED = `
  const http = require("http");
  const pg = require("./client.js");
  const postgres = require("./postgres-js.js");
  const { DATABASE_URL: url, PGSSLROOTCERT } = process.env;
  const text = "select repeat('a', 100000) as text";
  const withPg = async (options) => {
    const client = new pg.Client({ connectionString: url, ...options });
    try {
      await client.connect();
      return (await client.query(text)).rows[0].text.length;
    } finally {
      await client.end().catch(() => {});
    }
  };
  const withPostgresJs = async (settings, options = {}) => {
    const sql = postgres(url + settings, { max: 1, ...options });
    try {
      return (await sql.unsafe(text))[0].text.length;
    } finally {
      await sql.end({ timeout: 0 });
    }
  };
  const attempts = {
    "pg, ssl: true": () => withPg({ ssl: true }),
    "pg, not verified": () => withPg({ ssl: { rejectUnauthorized: false } }),
    "pg, verified": () => withPg({ ssl: { rejectUnauthorized: true } }),
    "pg, sslmode=require": () => withPg({ connectionString: url + "?sslmode=require" }),
    "pg, sslmode=no-verify": () => withPg({ connectionString: url + "?sslmode=no-verify" }),
    "pg, sslmode=verify-full": () => withPg({ connectionString: url + "?sslmode=verify-full" }),
    "pg, sslrootcert": () => withPg({ connectionString: url + "?sslmode=verify-full&sslrootcert=" + PGSSLROOTCERT }),
    "pg, localhost": () => withPg({ connectionString: url.replace("127.0.0.1", "localhost"), ssl: true }),
    "postgres.js, ssl: require": () => withPostgresJs("", { ssl: "require" }),
    "postgres.js, ssl: true": () => withPostgresJs("", { ssl: true }),
    "postgres.js, ssl: verify-full": () => withPostgresJs("", { ssl: "verify-full" }),
    "postgres.js, sslmode=require": () => withPostgresJs("?sslmode=require"),
    "postgres.js, sslmode=verify-full": () => withPostgresJs("?sslmode=verify-full"),
    "pg, another host": () => withPg({ ssl: { servername: "other.example" } }),
  };
  http.createServer(async (request, response) => {
    const results = {};
    for (const [name, attempt] of Object.entries(attempts)) results[name] = await attempt().catch(({ message }) => message);
    response.end(JSON.stringify(results));
  }).listen(process.env.PORT);`;

test("an app can require TLS of its database and verify the certificate, with pg and postgres.js", async () => {
  await publish("encrypted", {}, { "server.js": ENCRYPTED, "postgres-js.js": await bundlePostgresJs() });
  const { "pg, another host": otherHost, ...results } = JSON.parse((await edge.request("encrypted")).text) as Record<
    string,
    unknown
  >;
  expect(results).toEqual(Object.fromEntries(Object.keys(results).map((name) => [name, 100_000])));
  expect(Object.keys(results)).toHaveLength(13);
  expect(otherHost).toMatch(/does not match certificate's altnames/);
});

test("the role of an app has no rights beyond its database", async () => {
  await publish("mine");
  await publish("yours");
  const [{ name } = {}] = (await query("yours", "select current_database() as name")) as { name?: string }[];
  const statements: [string, RegExp][] = [
    [`select pg_read_file('/etc/passwd')`, /permission denied/],
    [`copy (select 1) to program 'id'`, /permission denied/],
    [`create database more`, /permission denied/],
    [`create role more`, /permission denied/],
    [`create extension dblink`, /permission denied/],
    [`set role service`, /permission denied/],
    [`set temp_file_limit = -1`, /permission denied/],
    [`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'service'`, /SUPERUSER|permission denied/],
    [`alter database "${name}" connection limit 0`, /must be owner/],
    [`drop database "${name}"`, /must be owner/],
    [`select * from service.app_databases`, /does not exist/],
    [`select passwd from pg_shadow`, /permission denied/],
  ];
  for (const [statement, refusal] of statements)
    expect([statement, await query("mine", statement)]).toEqual([statement, expect.stringMatching(refusal)]);
  const seen = `select query from pg_stat_activity where datname = '${name}' and query like '%current_database%'`;
  expect(await query("mine", seen)).toEqual([]);
});

test("an app cannot connect to another database, nor as another role", async () => {
  const attempts = `
    const http = require("http");
    const pg = require("./client.js");
    const own = { host: "127.0.0.1", port: process.env.PGPORT };
    const { PGUSER: user, PGPASSWORD: password } = process.env;
    http.createServer(async (request, response) => {
      const results = [];
      for (const options of [{ user, password, database: "postgres" }, { user, password, database: "template1" },
        { user: "service", database: "postgres" }, { user: "service", password, database: user }, { user, password: "x", database: user }]) {
        const client = new pg.Client({ ...own, ...options });
        results.push(await client.connect().then(() => "connected", ({ message }) => message));
        client.end().catch(() => {});
      }
      response.end(JSON.stringify(results));
    }).listen(process.env.PORT);`;
  await publish("attempts", {}, { "server.js": attempts });
  const results = JSON.parse((await edge.request("attempts")).text) as string[];
  for (const result of results)
    expect(result).toMatch(/permission denied for database|authentication failed|SASL|password/);
});

const MIGRATION = `
  const pg = require("./client.js");
  (async () => {
    const db = new pg.Client({ connectionString: process.env.DATABASE_URL });
    await db.connect();
    await db.query("create table if not exists items (name text)");
    await db.query("insert into items values ('migrated')");
    if (process.env.FAIL) throw new Error("the migration failed on purpose");
    await db.end();
  })().catch((error) => { console.error(error.message); process.exit(3); });`;

test("a migration runs once for each deployment, and not at a later start", async () => {
  const options = { migration: "node migrate.js" };
  await publish("migrated", options, { "migrate.js": MIGRATION });
  await edge.platform.supervisor.withDatabaseClosed("db-migrated", async () => {});
  expect(await query("migrated", "select name from items")).toEqual([{ name: "migrated" }]);
  await publish("migrated", { ...options, generation: 2 }, { "migrate.js": MIGRATION });
  expect(await query("migrated", "select name from items")).toHaveLength(2);
});

test("a migration that fails ends the deployment with what it printed, and the version before stays live", async () => {
  await publish("failing");
  const failing = { "migrate.js": MIGRATION.replace("process.env.FAIL", "true") };
  const result = publish("failing", { migration: "node migrate.js", generation: 2 }, failing);
  const error = await result.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UnhealthyScript);
  expect((error as Error).message).toMatch(/The migration `node migrate.js` ended with status 3/);
  expect((error as UnhealthyScript).printed.join("\n")).toContain("failed on purpose");
  expect(await query("failing", "select 1 as n")).toEqual([{ n: 1 }]);
});

test("a server whose owner names another database gets none, and its migration does not run", async () => {
  edge.variables.set("app-own", { DATABASE_URL: "postgres://elsewhere.example/db" });
  await publish(
    "own",
    { migration: "exit 1" },
    {
      "server.js": `require("http").createServer((request, response) => response.end(process.env.DATABASE_URL + process.env.PGHOST)).listen(process.env.PORT)`,
    },
  );
  expect((await edge.request("own")).text).toBe("postgres://elsewhere.example/dbundefined");
  expect(await edge.platform.databases.list()).not.toContain("db-own");
});

test("the password of the database does not appear in the log of the app", async () => {
  await publish("quiet", {}, { "server.js": `console.log("password:", process.env.PGPASSWORD);${SERVER}` });
  const log = await edge.platform.runtimeLogs.read({ slug: "quiet", id: "app-quiet" });
  expect(log.map(({ message }) => message)).toContain("password: [masked]");
});

test("a database counts as storage of the app", async () => {
  await publish("large");
  const before = await edge.platform.storage.measure({ slug: "large", appId: "app-large" }, 1e12);
  await query("large", "create table numbers as select g as n from generate_series(1, 200000) g");
  const after = await edge.platform.storage.measure({ slug: "large", appId: "app-large" }, 1e12);
  expect(after.sql - before.sql).toBeGreaterThan(5_000_000);
});
