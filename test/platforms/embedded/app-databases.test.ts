import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile, mkdir, stat, symlink, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { QueryResult } from "../../../domain/ports/app-databases.ts";
import { openNodeServers } from "../../../server/composition/edge.ts";
import { copyDatabase } from "../../../server/platforms/embedded/app-databases/copy-database.ts";
import { SqliteReader } from "../../../server/platforms/embedded/app-databases/sqlite-reader.ts";
import { publishServer } from "../../support/edge/node-server.ts";
import { openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { TEST_LIMIT_MS } from "../../support/time-limits.ts";

let edge: TestPlatform;
beforeAll(async () => {
  edge = await openTestPlatform();
});
afterAll(() => edge[Symbol.asyncDispose]());

const signal = AbortSignal.timeout(600_000);
const describeApp = (slug: string, name: string | null = null) =>
  edge.platform.appDatabases.describe({ slug, appId: `app-${slug}` }, name, signal);
const query = (slug: string, sql: string, limit = 100, name: string | null = null) =>
  edge.platform.appDatabases.query({ slug, appId: `app-${slug}` }, name, { sql, limit }, signal);

const D1 = [{ type: "d1", name: "DB", id: "declared" }];
/** Runs the statement of each request. */
const WORKER = `export default {
  async fetch(request, { DB }) {
    const sql = decodeURIComponent(new URL(request.url).pathname.slice(1));
    return Response.json(await DB.prepare(sql || "select 1").all().then(({ results }) => results, String));
  },
};`;
const SERVER = `
  const http = require("http");
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.env.SQLITE_PATH);
  database.exec("pragma journal_mode = " + (process.env.JOURNAL_MODE ?? "delete"));
  http.createServer((request, response) => {
    const sql = decodeURIComponent(request.url.slice(1)) || "select 1";
    try { response.end(JSON.stringify(database.prepare(sql).all())); } catch (error) { response.end(String(error)); }
  }).listen(process.env.PORT);`;

const run = async (slug: string, sql: string) => (await edge.request(slug, `/${encodeURIComponent(sql)}`)).text;

test("the D1 database of a running Worker is described and queried", async () => {
  await edge.platform.databases.create("db-worker");
  await edge.publish("worker", WORKER, { bindings: D1 });
  await run("worker", "create table notes (id integer primary key, text text not null)");
  await run("worker", "insert into notes (text) values ('one'), ('two')");
  expect(await describeApp("worker")).toEqual({
    kind: "sqlite",
    name: "main",
    names: ["main"],
    bytes: expect.any(Number),
    tables: [
      {
        schema: "main",
        name: "notes",
        kind: "table",
        columns: [
          { name: "id", type: "INTEGER", is_primary_key: true },
          { name: "text", type: "TEXT", is_primary_key: false },
        ],
        row_count: 2,
        has_more_rows: false,
      },
    ],
    has_more_tables: false,
  });
  expect(await query("worker", "select * from notes order by id desc")).toEqual({
    columns: [{ name: "id" }, { name: "text" }],
    rows: [
      [2, "two"],
      [1, "one"],
    ],
    is_truncated: false,
    duration_ms: expect.any(Number),
  });
});

test.each(["delete", "wal"])("the file of a running Node server with the journal mode %s is queried", async (mode) => {
  const slug = `server-${mode}`;
  edge.variables.set(`app-${slug}`, { JOURNAL_MODE: mode });
  await publishServer(edge, slug, { "server.js": SERVER });
  await run(slug, "create table notes (id integer primary key, text text)");
  await run(slug, "insert into notes (text) values ('one')");
  expect(await describeApp(slug)).toMatchObject({
    kind: "sqlite",
    name: "app.db",
    tables: [{ name: "notes", row_count: 1 }],
  });
  expect(await query(slug, "select text from notes")).toMatchObject({ rows: [["one"]] });
  await run(slug, "insert into notes (text) values ('two')");
  expect(await query(slug, "select text from notes")).toMatchObject({ rows: [["one"], ["two"]] });
});

const problemOf = (reading: Promise<unknown>) =>
  reading.then(
    (result) => JSON.stringify(result),
    ({ message }: Error) => message,
  );

test("a statement that changes something, or is not one statement, is refused", async () => {
  const READS_ONLY = /only statements that read are permitted/;
  const statements: [string, RegExp][] = [
    ["insert into notes (text) values ('three')", READS_ONLY],
    ["delete from notes", READS_ONLY],
    ["drop table notes", READS_ONLY],
    ["create table more (n)", READS_ONLY],
    ["create temp table more (n)", READS_ONLY],
    ["create virtual table more using fts5(text)", READS_ONLY],
    ["attach '/work/request.json' as other", READS_ONLY],
    ["vacuum into '/work/other'", READS_ONLY],
    ["begin", READS_ONLY],
    ["reindex", READS_ONLY],
    ["analyze", READS_ONLY],
    ["pragma journal_mode = delete", READS_ONLY],
    ["pragma user_version = 7", READS_ONLY],
    ["pragma query_only = off", READS_ONLY],
    ["pragma hard_heap_limit = 0", READS_ONLY],
    ["with gone as (select 1) delete from notes", READS_ONLY],
    ["select load_extension('/work/database')", /no such function|not authorized/],
    ["select readfile('/etc/passwd')", /no such function/],
    ["select 1; select 2", /more than one statement/],
    ["select 1; nonsense", /more than one statement/],
    ["", /has no statement/],
    ["/* nothing */ ;", /has no statement/],
    ["select missing from notes", /SQLite: no such column: missing/],
    ["select", /SQLite: incomplete input/],
  ];
  for (const [sql, problem] of statements)
    expect([sql, await problemOf(query("worker", sql))]).toEqual([sql, expect.stringMatching(problem)]);
  for (const sql of [
    "pragma table_info(notes)",
    "explain query plan select 1",
    "pragma user_version",
    "values (1); -- end",
  ])
    expect((await query("worker", sql)).rows.length).toBeGreaterThan(0);
});

test("values are JSON, long ones are cut, and rows are returned up to a number and a size", async () => {
  const values = `select 9007199254740993, 1.5, 9e999, null, x'00ff', 'ä' || char(0), cast(x'ff41' as text)`;
  expect((await query("worker", values)).rows).toEqual([
    ["9007199254740993", 1.5, "Infinity", null, { base64: "AP8=", bytes: 2 }, "ä\0", "\ufffdA"],
  ]);
  const long = "select printf('%.*c', 100000, 'x') as text, zeroblob(100000) as data";
  const [[text, data] = []] = (await query("worker", long)).rows;
  expect(text).toEqual({ text: "x".repeat(4096), bytes: 100_000 });
  expect(data).toEqual({ base64: Buffer.alloc(16_384).toString("base64"), bytes: 100_000 });
  const many = "with recursive c(n) as (select 1 union all select n + 1 from c) select n from c";
  const some = await query("worker", many, 3);
  expect([some.rows, some.is_truncated]).toEqual([[[1], [2], [3]], true]);
  expect(await query("worker", `${many} limit 3`, 3)).toMatchObject({ is_truncated: false });
  const wide = await query("worker", `select printf('%.*c', 10000, 'x') from (${many})`, 500);
  expect(wide.is_truncated).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(wide.rows))).toBeLessThan(1024 * 1024);
});

/** Reads a database with another limit on time than that of the service. */
async function readWith(statementMs: number, sql: string): Promise<QueryResult> {
  await using folder = await temporaryFolder();
  new DatabaseSync(path.join(folder.path, "app.db")).exec("create table notes (id integer)");
  const { sandbox } = openNodeServers({ sandbox: "bubblewrap" });
  const reader = new SqliteReader({ sandbox, copyRoot: path.join(folder.path, "copies"), statementMs });
  return await reader.query({ folder: folder.path, name: "app.db" }, { sql, limit: 100 }, signal);
}

test("a statement that runs too long or needs too much memory ends with a clear error", async () => {
  const endless = "with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c";
  expect(await problemOf(readWith(3000, endless))).toBe("sql: the statement took longer than 3 s and was stopped.");
  const cells = Array.from({ length: 5 }, () => "printf('%.*c', 100000000, 'x')").join(", ");
  // On a slow machine, the limit on time would come first.
  expect(await problemOf(readWith(TEST_LIMIT_MS, `select ${cells}`))).toContain("needs too much memory");
  const cell = await readWith(TEST_LIMIT_MS, "select printf('%.*c', 100000000, 'x'), zeroblob(100000000)");
  expect(cell.rows).toEqual([
    [expect.objectContaining({ bytes: 100_000_000 }), expect.objectContaining({ bytes: 100_000_000 })],
  ]);
  expect(await problemOf(readWith(TEST_LIMIT_MS, "select zeroblob(200000000)"))).toMatch(/too big/);
});

test("an app that writes all the time is read as it is between two transactions", async () => {
  await run("server-wal", "create table pairs (a integer, b integer)");
  await run("server-wal", "insert into pairs values (0, 0)");
  const finished = new AbortController();
  const write = async () => {
    for (let n = 1; !finished.signal.aborted; n++)
      expect(await run("server-wal", `update pairs set a = ${n}, b = ${n}`)).toBe("[]");
  };
  const writing = write();
  const seen = new Set<unknown>();
  for (let n = 0; n < 8; n++) {
    const { rows } = await query("server-wal", "select a, b from pairs");
    const [[a, b] = []] = rows;
    expect(rows).toHaveLength(1);
    expect(a).toBe(b);
    seen.add(a);
  }
  finished.abort();
  await writing;
  expect(seen.size).toBeGreaterThan(1);
});

const dataFolder = (slug: string) => path.join(edge.root, "scripts", slug, `app-${slug}`, "storage/data");

test("an app that is not running, and one that was killed within a transaction, is queried", async () => {
  for (const slug of ["server-wal", "server-delete"]) {
    await edge.platform.supervisor.withAppStopped(slug, async () => {
      expect(await query(slug, "select text from notes order by id")).toMatchObject({ rows: [["one"], ["two"]] });
    });
  }
  const folder = dataFolder("server-delete");
  // As a crash leaves them: pages of a transaction that did not commit, and the journal with their earlier content.
  const database = new DatabaseSync(path.join(folder, "crashed.db"));
  database.exec("create table numbers (n); insert into numbers values (1)");
  database.exec("pragma cache_spill = 1; pragma cache_size = 1; begin");
  database.exec(
    "with recursive c(n) as (select 2 union all select n + 1 from c limit 5000) insert into numbers select n from c",
  );
  for (const suffix of ["", "-journal"])
    await copyFile(path.join(folder, `crashed.db${suffix}`), path.join(folder, `left.db${suffix}`));
  database.close();
  expect((await stat(path.join(folder, "left.db"))).size).toBeGreaterThan(10_000);
  expect(await query("server-delete", "select n from numbers", 10, "left.db")).toMatchObject({ rows: [[1]] });
});

test("only regular files that begin as a SQLite database are databases", async () => {
  await publishServer(edge, "hostile", {
    "server.js": `require("http").createServer((request, response) => response.end("ok")).listen(process.env.PORT)`,
  });
  const folder = dataFolder("hostile");
  const secret = path.join(edge.dataDirectory, "secret.db");
  new DatabaseSync(secret).exec("create table secrets (n)");
  await symlink(secret, path.join(folder, "app.db"));
  await symlink(edge.dataDirectory, path.join(folder, "outside"));
  execFileSync("sh", ["-c", "mkfifo pipe.db"], { cwd: folder });
  await writeFile(path.join(folder, "text.db"), "no database");
  await mkdir(path.join(folder, "folder.db"));
  expect(await describeApp("hostile")).toBe(null);
  expect(await problemOf(query("hostile", "select 1"))).toContain("The app has no SQL database");
  for (const name of ["app.db", "outside/secret.db", "pipe.db", "text.db", "folder.db", "../../../secret.db", secret])
    expect([name, await problemOf(query("hostile", "select 1", 1, name))]).toEqual([
      name,
      expect.stringContaining("The app has no SQL database"),
    ]);
  await writeFile(path.join(folder, "broken.db"), Buffer.concat([Buffer.from("SQLite format 3\0"), randomBytes(8192)]));
  await writeFile(path.join(folder, "huge.db"), "SQLite format 3\0");
  await truncate(path.join(folder, "huge.db"), 2 ** 40);
  const names = ["broken.db", "huge.db"];
  expect(await problemOf(query("hostile", "select 1", 1, "app.db"))).toContain(
    `the app has no such database. It has ${names.map((name) => JSON.stringify(name)).join(", ")}`,
  );
  expect(await problemOf(query("hostile", "select * from sqlite_schema", 1, "broken.db"))).toBe(
    "The database is damaged, or is not a SQLite database.",
  );
  expect(await problemOf(describeApp("hostile", "huge.db"))).toBe("The database is larger than 1024 MiB.");
});

test("a file that becomes a link or a pipe before it is copied is not read", async () => {
  await using folder = await temporaryFolder();
  const [inside, outside] = [path.join(folder.path, "inside"), path.join(folder.path, "outside")];
  for (const each of [inside, outside]) await mkdir(each);
  await writeFile(path.join(outside, "secret"), "secret");
  await symlink(outside, path.join(inside, "link"));
  await symlink(path.join(outside, "secret"), path.join(inside, "app.db"));
  execFileSync("sh", ["-c", "mkfifo pipe"], { cwd: inside });
  const copy = (name: string) => copyDatabase({ folder: inside, name }, path.join(folder.path, "copy"), signal);
  for (const name of ["app.db", "link/secret", "pipe", "missing", "../outside/secret", "link", "."])
    expect([name, await problemOf(copy(name))]).toEqual([name, "The database is not a file that can be read."]);
  await writeFile(path.join(inside, "plain"), "content", { mode: 0o400 });
  expect(await copy("plain")).toBe(7);
  expect((await stat(path.join(folder.path, "copy"))).mode & 0o777).toBe(0o600);
});

test("a platform without a sandbox reads databases too", async () => {
  const nodeServers = openNodeServers({ sandbox: "none" });
  await using unconfined = await openTestPlatform({ sandbox: "none", nodeServers });
  await unconfined.platform.databases.create("db-plain");
  await unconfined.publish("plain", WORKER, { bindings: D1 });
  await unconfined.request("plain", `/${encodeURIComponent("create table notes (n)")}`);
  const { appDatabases } = unconfined.platform;
  const app = { slug: "plain", appId: "app-plain" };
  expect(await appDatabases.describe(app, null, signal)).toMatchObject({ tables: [{ name: "notes", row_count: 0 }] });
  const select = { sql: "select count(*) from notes", limit: 1 };
  expect(await appDatabases.query(app, null, select, signal)).toMatchObject({ rows: [[0]] });
});
