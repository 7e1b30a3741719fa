import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmbeddedAppData } from "../../../../server/app-files/embedded-app-data.ts";
import { filesOf, openAppData } from "../../../support/edge/app-data.ts";
import { openTestCluster, type TestCluster } from "../../../support/edge/cluster-edge.ts";
import { publishServer } from "../../../support/edge/node-server.ts";
import { NOTES_SERVER, readNotes } from "../../../support/edge/notes-server.ts";
import { openTestPlatform, type TestPlatform } from "../../../support/edge/test-platform.ts";

let cluster: TestCluster;
let edge: TestPlatform;
let other: TestPlatform;
let alone: TestPlatform;
let [clusterData, otherData, aloneData]: EmbeddedAppData[] = [];
beforeAll(async () => {
  cluster = await openTestCluster();
  [edge, other] = [await cluster.openEdge(), await cluster.openEdge()];
  alone = await openTestPlatform();
  [clusterData, otherData, aloneData] = [await openAppData(edge), await openAppData(other), await openAppData(alone)];
}, 60_000);
afterAll(async () => {
  await alone[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const BINDINGS = [
  { type: "d1", name: "DB", id: "declared" },
  { type: "kv_namespace", name: "SETTINGS", namespace_id: "settings" },
  { type: "r2_bucket", name: "FILES", bucket_name: "files" },
  { type: "durable_object_namespace", name: "COUNTER", class_name: "Counter" },
];
/** Fills its stores with what is easily lost, and returns all that is in them. */
const WORKER = `
import { DurableObject } from "cloudflare:workers";

export class Counter extends DurableObject {
  async fetch() {
    await this.ctx.storage.put("count", 1);
    return new Response("1");
  }
}

const SCHEMA = [
  "CREATE TABLE parents (id INTEGER PRIMARY KEY AUTOINCREMENT, parent INTEGER REFERENCES parents(id) ON DELETE RESTRICT, name TEXT)",
  "CREATE TABLE children (name TEXT PRIMARY KEY COLLATE NOCASE, parent INTEGER NOT NULL REFERENCES parents(id)) WITHOUT ROWID",
  "CREATE TABLE left_side (id INTEGER PRIMARY KEY, other INTEGER REFERENCES right_side(id))",
  "CREATE TABLE right_side (id INTEGER PRIMARY KEY, other INTEGER REFERENCES left_side(id))",
  "CREATE TABLE \\"odd \\"\\" 'name\\" (a, \\"b c\\" INTEGER, c REAL, d TEXT, e BLOB, f INTEGER AS (\\"b c\\" / 2) STORED, rowid TEXT)",
  "CREATE TABLE log (text)",
  "CREATE INDEX by_name ON parents(name) WHERE name IS NOT NULL",
  "CREATE VIEW names AS SELECT name FROM parents",
  "CREATE VIRTUAL TABLE notes USING fts5(body, kind UNINDEXED)",
  "CREATE TABLE posts (id INTEGER PRIMARY KEY, body TEXT)",
  "CREATE VIRTUAL TABLE posts_index USING fts5(body, content='posts', content_rowid='id')",
  "CREATE VIRTUAL TABLE bare USING fts5(body, content='')",
  "CREATE TRIGGER logged AFTER INSERT ON parents BEGIN INSERT INTO log VALUES (new.name); END",
  "CREATE TRIGGER indexed AFTER INSERT ON posts BEGIN INSERT INTO posts_index(rowid, body) VALUES (new.id, new.body); END",
];
const ROWS = [
  "INSERT INTO parents VALUES (7, 7, 'self'), (3, 7, 'child''s'), (9, NULL, NULL), (50, NULL, 'deleted')",
  "DELETE FROM parents WHERE id = 50",
  "INSERT INTO children VALUES ('Zoë', 3), ('adam', 7)",
  "INSERT INTO left_side VALUES (1, NULL)", "INSERT INTO right_side VALUES (1, 1)", "UPDATE left_side SET other = 1",
  "INSERT INTO \\"odd \\"\\" 'name\\" VALUES (1, 9223372036854775807, 1, '1', x'00ff', 'r1'), (1.0, -9223372036854775808, 9e999, '', x'', NULL), ('i5', NULL, 0.1, 'a' || char(0) || 'b', NULL, '😀'), (x'41', 2, -9e999, 't', zeroblob(70000), 'x')",
  "INSERT INTO notes(rowid, body, kind) VALUES (12, 'the quick fox', 'k')",
  "INSERT INTO posts VALUES (1, 'hello world')",
  "INSERT INTO bare(rowid, body) VALUES (1, 'gone')",
];
const QUERIES = [
  "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT GLOB '_cf_*' AND name NOT GLOB 'bare*' ORDER BY type, name",
  "SELECT * FROM parents ORDER BY id", "SELECT * FROM children ORDER BY name", "SELECT * FROM left_side", "SELECT * FROM right_side",
  "SELECT _rowid_, typeof(a), quote(a), quote(\\"b c\\"), quote(c), hex(d), hex(e), quote(f), quote(rowid) FROM \\"odd \\"\\" 'name\\" ORDER BY _rowid_",
  "SELECT * FROM log", "SELECT * FROM names", "SELECT name, seq FROM sqlite_sequence ORDER BY name",
  "SELECT rowid, body, kind FROM notes WHERE notes MATCH 'quick'", "SELECT rowid, body FROM posts_index WHERE posts_index MATCH 'world'",
];

async function fill({ DB, SETTINGS, FILES, COUNTER }) {
  for (const sql of [...SCHEMA, ...ROWS]) await DB.prepare(sql).run();
  const rows = Array.from({ length: 1500 }, (_, n) => DB.prepare("INSERT INTO log VALUES (?)").bind("line " + n));
  await DB.batch(rows);
  await SETTINGS.put("plain", "zwei");
  await SETTINGS.put("bytes/😀", new Uint8Array([0, 255, 10, 13]), { metadata: { tags: ["é", 1] } });
  await SETTINGS.put("expiring", "x".repeat(30_000), { expiration: 2_000_000_000 });
  await SETTINGS.put("soon", "x", { expirationTtl: 60 });
  await FILES.put("a/b.txt", "hello", { httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(2e12) }, customMetadata: { owner: "zoë" } });
  await FILES.put("empty", "");
  const content = new Uint8Array(3_000_000).map((_, at) => at % 251);
  await FILES.put("large", content, { sha256: await crypto.subtle.digest("SHA-256", content) });
  await COUNTER.get(COUNTER.idFromName("one")).fetch("http://counter/");
}

async function hex(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

async function dump({ DB, SETTINGS, FILES }) {
  const database = [];
  for (const sql of QUERIES) database.push((await DB.prepare(sql).raw().catch((error) => error.message)));
  const [values, objects] = [[], []];
  for (const { name, expiration } of (await SETTINGS.list()).keys) {
    const { value, metadata } = await SETTINGS.getWithMetadata(name, "arrayBuffer");
    if (name !== "soon") values.push({ name, expiration, metadata, value: await hex(value) });
  }
  for (const { key } of (await FILES.list()).objects) {
    const { httpMetadata, customMetadata, checksums, size, body } = await FILES.get(key);
    objects.push({ key, size, httpMetadata, customMetadata, checksums, value: await hex(await new Response(body).arrayBuffer()) });
  }
  return { database, values, objects };
}

export default { async fetch(request, env) {
  if (request.headers.get("user-agent") === "health-check") return new Response();
  if (new URL(request.url).pathname === "/fill") try { await fill(env); } catch (error) { return Response.json({ error: error.stack }); }
  if (new URL(request.url).pathname === "/write") await env.DB.prepare("INSERT INTO parents (name) VALUES ('new')").run();
  return Response.json(await dump(env));
} }`;
const app = (slug: string) => ({ appId: `app-${slug}`, slug, databaseId: `db-${slug}`, maxDatabaseBytes: 2 ** 30 });
const signal = AbortSignal.timeout(600_000);

test(
  "the D1 database, KV namespaces and R2 buckets of a Worker move between several edges and one, in both directions",
  { timeout: 180_000 },
  async () => {
    await edge.publish("shop", WORKER, { bindings: BINDINGS });
    const filled = JSON.parse((await edge.request("shop", "/fill")).text) as { database: unknown[] };
    expect(filled.database.map((rows) => (rows as unknown[]).length)).toEqual([23, 3, 2, 1, 1, 4, 1504, 3, 1, 1, 1]);
    {
      // From an edge that does not run the app.
      await using copy = await otherData!.copy(app("shop"), signal);
      expect(copy.warnings).toEqual([
        "The durable objects of the app cannot be moved between one edge and several. They are left out: Counter.",
        'The full-text index "bare" has no content of its own. Its entries are left out.',
        "1 values of a namespace expire within a minute. They are left out.",
      ]);
      expect(await aloneData!.restore(app("moved"), () => filesOf(copy), signal)).toEqual([]);
    }
    await alone.publish("moved", WORKER, { bindings: BINDINGS });
    expect(JSON.parse((await alone.request("moved")).text)).toEqual(filled);
    const written = (await alone.request("moved", "/write")).text;
    {
      await using copy = await aloneData!.copy(app("moved"), signal);
      expect(copy.warnings).toEqual([]);
      for (let attempt = 0; attempt < 2; attempt++)
        expect(await clusterData!.restore(app("back"), () => filesOf(copy), signal)).toEqual([
          'The full-text index "bare" has no content of its own. Its entries are left out.',
        ]);
    }
    await edge.publish("back", WORKER, { bindings: BINDINGS });
    expect(JSON.parse((await other.request("back")).text)).toEqual(JSON.parse(written));
  },
);

test(
  "the data of a Node server moves between several edges and one, with what it wrote just before",
  { timeout: 120_000 },
  async () => {
    await publishServer(edge, "notes", NOTES_SERVER);
    const add = async (on: TestPlatform, slug: string, text: string) =>
      readNotes(await on.request(slug, `/${text}`, { method: "POST", body: "" })).notes;
    await add(edge, "notes", "one");
    for (const [at, data] of [otherData, clusterData].entries()) {
      const expected = await add(edge, "notes", `more-${at}`);
      await using copy = await data!.copy(app("notes"), signal);
      expect(copy).toMatchObject({ runtime: "node", warnings: ["storage/data/newest is not a file. It is left out."] });
      await aloneData!.restore(app(`notes-${at}`), () => filesOf(copy), signal);
      await publishServer(alone, `notes-${at}`, NOTES_SERVER);
      expect(readNotes(await alone.request(`notes-${at}`))).toMatchObject({ notes: expected, integrity: "ok" });
    }
    const expected = await add(alone, "notes-1", "back");
    await using copy = await aloneData!.copy(app("notes-1"), signal);
    await otherData!.restore(app("returned"), () => filesOf(copy), signal);
    await publishServer(edge, "returned", NOTES_SERVER);
    expect(readNotes(await other.request("returned"))).toMatchObject({ notes: expected, integrity: "ok" });
  },
);

const LARGE = `export default { async fetch(request, { DB }) {
  if (request.headers.get("user-agent") === "health-check") return new Response();
  const { pathname } = new URL(request.url);
  if (pathname === "/fill") {
    await DB.exec("CREATE TABLE big (id INTEGER PRIMARY KEY, previous INTEGER REFERENCES big(id), content BLOB)");
    for (let n = 0; n < 30; n++)
      await DB.prepare("WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 + 99) INSERT INTO big SELECT i, i, randomblob(4000) FROM n").bind(n * 100).run();
  }
  if (pathname === "/write") await DB.prepare("UPDATE big SET content = x'00' WHERE id = 2999").run();
  const rows = await DB.prepare("SELECT id, previous, length(content), hex(substr(content, 1, 4)) FROM big ORDER BY id").raw();
  return Response.json(rows);
} }`;

test(
  "a large D1 database is of one moment or has a warning, and an aborted restoration can be repeated on another edge",
  { timeout: 180_000 },
  async () => {
    const options = { bindings: [{ type: "d1", name: "DB", id: "declared" }] };
    await edge.publish("large", LARGE, options);
    const filled = (await edge.request("large", "/fill")).text;
    expect(JSON.parse(filled)).toHaveLength(3000);
    await using copy = await otherData!.copy(app("large"), signal);
    expect(copy.warnings).toEqual([]);
    await aloneData!.restore(app("large-alone"), () => filesOf(copy), signal);
    await alone.publish("large-alone", LARGE, options);
    expect((await alone.request("large-alone")).text).toBe(filled);
    await using back = await aloneData!.copy(app("large-alone"), signal);
    const controller = new AbortController();
    const committing = cluster.server.untilRequest(/^PUT .*edge\/data\/db-large-back\/v1\/do\/.*\/log\//);
    const aborted = clusterData!.restore(app("large-back"), () => filesOf(back), controller.signal);
    // The first rows are being committed, so the restoration cannot have finished.
    await committing;
    controller.abort();
    await expect(aborted).rejects.toThrow("aborted");
    expect(await otherData!.restore(app("large-back"), () => filesOf(back), signal)).toEqual([]);
    await edge.publish("large-back", LARGE, options);
    expect((await edge.request("large-back")).text).toBe(filled);
    const ended = new AbortController();
    const write = async () => {
      while (!ended.signal.aborted) await edge.request("large", "/write");
    };
    const writing = write();
    await using changing = await otherData!.copy(app("large"), signal);
    ended.abort();
    await writing;
    const warning = "The database changed all the time. Its rows may be of different moments.";
    expect([[], [warning]]).toContainEqual(changing.warnings);
  },
);
