import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openOnEmulator, type PlatformOnEmulator } from "../../support/cloudflare/open-on-emulator.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const APP = { slug: "shop", appId: "app-1" };
const TOKEN = "sva_valid";
const KEYS = { kind: "key_value", name: "KV" } as const;
const OBJECTS = { kind: "objects", name: "FILES" } as const;
const PAGE = { prefix: "", after: null, limit: 10 };
const signal = AbortSignal.timeout(600_000);

const SCRIPT = `export default { async fetch(request, { KV, FILES }) {
  if (request.method === "POST") {
    for (const key of ["a", "b", "c/1", "c/2"]) await KV.put(key, "value of " + key);
    await FILES.put("docs/a.txt", "hello");
    await FILES.put("docs/b.bin", new Uint8Array([0, 255]));
  }
  const sent = Object.fromEntries(request.headers);
  return Response.json(sent, { headers: { "set-cookie": "shared=1; Domain=localhost", "x-own": "kept" } });
} }`;

let t: PlatformOnEmulator;

beforeAll(async () => {
  t = await openOnEmulator();
  await using folder = await temporaryFolder();
  const bindings = [
    { type: "d1", name: "DB", id: "declared" },
    { type: "kv_namespace", name: "KV", namespace_id: "values" },
    { type: "r2_bucket", name: "FILES", bucket_name: "files" },
  ];
  const scriptPath = await writeUploadForm(path.join(folder.path, "bundle.form"), SCRIPT, { bindings });
  const { databases, scripts, authEntries } = t.platform;
  await databases.create("db-1");
  const statements = [
    "CREATE TABLE goods(id INTEGER PRIMARY KEY, name TEXT, data BLOB)",
    "INSERT INTO goods VALUES (1, 'tea', x'00ff'), (2, 'salt', null)",
  ];
  await databases.migrate("db-1", [{ name: "1", statements }], signal);
  await authEntries.put({ appId: "app-1", tokenSha256: sha256Hex(TOKEN) });
  const code = { runtime: "worker", scriptPath } as const;
  await scripts.publish("shop", { appId: "app-1", generation: 1, databaseId: "db-1", code, assets: null }, signal);
  await t.request("shop", "/", { method: "POST" });
});

afterAll(() => t[Symbol.asyncDispose]());

test("the database of an app is described with its tables, columns and rows", async () => {
  const description = await t.platform.appDatabases.describe(APP, null, signal);
  const goods = description?.tables.find(({ name }) => name === "goods");
  expect([description?.names, goods]).toMatchObject([
    ["main"],
    {
      kind: "table",
      row_count: 2,
      columns: [{ name: "id", is_primary_key: true }, { name: "name", type: "TEXT" }, {}],
    },
  ]);
  expect(await t.platform.appDatabases.describe({ slug: "shop", appId: "another" }, null, signal)).toBeNull();
});

test("a statement that reads returns rows up to the limit, with binary data", async () => {
  const query = (sql: string, limit = 10) => t.platform.appDatabases.query(APP, null, { sql, limit }, signal);
  expect(await query("SELECT id, name, data FROM goods ORDER BY id; -- all")).toMatchObject({
    columns: [{ name: "id" }, { name: "name" }, { name: "data" }],
    rows: [
      [1, "tea", { base64: "AP8=", bytes: 2 }],
      [2, "salt", null],
    ],
    is_truncated: false,
  });
  expect(await query("WITH g AS (SELECT * FROM goods) SELECT id FROM g ORDER BY id", 1)).toMatchObject({
    rows: [[1]],
    is_truncated: true,
  });
});

test.each([
  "DELETE FROM goods",
  "SELECT 1) ; DELETE FROM goods; SELECT * FROM (SELECT 1",
  "SELECT 1; DELETE FROM goods",
  "WITH g AS (SELECT 1) DELETE FROM goods",
  "SELECT ') ; DELETE FROM goods; --",
  "SELECT 1 /* ) */ ); DELETE FROM goods --",
  "SELECT * FROM absent",
])("a statement that writes, or fails, is refused and changes nothing: %s", async (sql) => {
  const { appDatabases } = t.platform;
  await expect(appDatabases.query(APP, null, { sql, limit: 5 }, signal)).rejects.toMatchObject({ code: "invalid" });
  expect(await appDatabases.query(APP, null, { sql: "SELECT count(*) FROM goods", limit: 5 }, signal)).toMatchObject({
    rows: [[2]],
  });
});

test("keys and objects are listed in their order after a key, and can be read", async () => {
  const { appEntries } = t.platform;
  expect(await appEntries.listStores(APP)).toEqual([KEYS, OBJECTS]);
  const keysOf = async (page: object) =>
    (await appEntries.list(APP, KEYS, { ...PAGE, ...page }, signal)).map(({ key, bytes }) => [key, bytes]);
  expect(await keysOf({ after: "a", limit: 2 })).toEqual([
    ["b", 10],
    ["c/1", 12],
  ]);
  expect(await keysOf({ prefix: "c/" })).toEqual([
    ["c/1", 12],
    ["c/2", 12],
  ]);
  expect(await appEntries.read(APP, KEYS, "c/1", signal)).toBe("value of c/1");
  expect(await appEntries.list(APP, OBJECTS, PAGE, signal)).toMatchObject([
    { key: "docs/a.txt", bytes: 5 },
    { key: "docs/b.bin", bytes: 2 },
  ]);
  expect(await appEntries.read(APP, OBJECTS, "docs/b.bin", signal)).toEqual({ base64: "AP8=", bytes: 2 });
  expect(await appEntries.read(APP, OBJECTS, "absent", signal)).toBeNull();
  await expect(appEntries.list(APP, { ...KEYS, name: "OTHER" }, PAGE, signal)).rejects.toMatchObject({
    code: "not_found",
  });
});

test("the dispatch worker applies the rules of the edge proxy about tokens and reserved headers", async () => {
  const headersWith = async (headers: Record<string, string>) => {
    const { status, text } = await t.request("shop", "/", { headers });
    return { status, headers: status === 200 ? (JSON.parse(text) as Record<string, string>) : {} };
  };
  const forged = { "x-service-auth": "app", "x-real-ip": "10.0.0.1", "x-service-probe": "shop 00", "x-own": "kept" };
  const anonymous = await headersWith(forged);
  expect(anonymous.headers).toMatchObject({
    "x-own": "kept",
    "cf-connecting-ip": "203.0.113.7",
    "x-forwarded-for": "203.0.113.7",
  });
  expect(Object.keys(anonymous.headers)).not.toContain("x-real-ip");
  expect(Object.keys(anonymous.headers).filter((name) => name.startsWith("x-service-"))).toEqual([]);
  const owner = await headersWith({ authorization: `Bearer ${TOKEN}` });
  expect([owner.headers["x-service-auth"], owner.headers["authorization"]]).toEqual(["app", undefined]);
  expect((await headersWith({ authorization: "Bearer sva_other" })).status).toBe(401);
  expect((await headersWith({ authorization: "Basic b3RoZXI=" })).headers["authorization"]).toBe("Basic b3RoZXI=");
});

test("a restricted app serves its owner only, and all again afterwards", async () => {
  const { storage } = t.platform;
  expect(await storage.listChanged()).toEqual([APP]);
  expect(await storage.measure(APP, 1e9)).toEqual({ sql: 12_288, keyValue: 0, objects: 6, durable: 0 });
  expect(await storage.listChanged()).toEqual([]);
  await storage.restrict(APP, { message: "The app stores too much.", servesOwner: true });
  const owner = { headers: { authorization: `Bearer ${TOKEN}` } };
  const statuses = async () => [(await t.request("shop")).status, (await t.request("shop", "/", owner)).status];
  expect(await statuses()).toEqual([507, 200]);
  await storage.restrict(APP, null);
  expect(await statuses()).toEqual([200, 200]);
});

test("logs of running apps are refused with the reason", async () => {
  await expect(t.platform.runtimeLogs.read({ id: "app-1", slug: "shop" })).rejects.toMatchObject({ code: "conflict" });
});
