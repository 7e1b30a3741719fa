import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestCluster, type TestCluster } from "../../../support/edge/cluster-edge.ts";
import type { TestPlatform } from "../../../support/edge/test-platform.ts";

let cluster: TestCluster;
let edge: TestPlatform;
let other: TestPlatform;
beforeAll(async () => {
  cluster = await openTestCluster();
  [edge, other] = [await cluster.openEdge(), await cluster.openEdge()];
  await edge.publish("shop", WORKER, { bindings: BINDINGS });
  await edge.request("shop");
});
afterAll(() => cluster[Symbol.asyncDispose]());

const BINDINGS = [
  { type: "d1", name: "DB", id: "declared" },
  { type: "kv_namespace", name: "SETTINGS", namespace_id: "settings" },
  { type: "r2_bucket", name: "FILES", bucket_name: "files" },
];
const WORKER = `export default { async fetch(request, { DB, SETTINGS, FILES }) {
  if (request.headers.get("user-agent") === "health-check") return new Response();
  await DB.exec("CREATE TABLE notes (id integer primary key, text text not null)");
  await DB.exec("INSERT INTO notes (text) VALUES ('one'), ('two')");
  await SETTINGS.put("user:1", "x".repeat(20_000), { expirationTtl: 3600 });
  await SETTINGS.put("user:2", "zwei");
  await FILES.put("a.txt", "hello", { httpMetadata: { contentType: "text/plain" } });
  return new Response("stored");
} }`;
const APP = { slug: "shop", appId: "app-shop" };
const KEYS = { kind: "key_value", name: "SETTINGS" } as const;
const OBJECTS = { kind: "objects", name: "FILES" } as const;
const ALL = { prefix: "", after: null, limit: 10 };
const signal = AbortSignal.timeout(600_000);

test("the database of a Worker is described and queried on an edge that does not run it", async () => {
  const { appDatabases } = other.platform;
  expect(await appDatabases.describe(APP, null, signal)).toMatchObject({
    kind: "sqlite",
    names: ["main"],
    bytes: expect.any(Number),
    tables: [{ name: "notes", row_count: 2, columns: [{ name: "id", is_primary_key: true }, { name: "text" }] }],
  });
  const rows = await appDatabases.query(APP, null, { sql: "SELECT text FROM notes ORDER BY id", limit: 1 }, signal);
  expect(rows).toMatchObject({ columns: [{ name: "text" }], rows: [["one"]], is_truncated: true });
});

test("a statement that writes, or fails, is refused with the reason", async () => {
  const query = (sql: string) => other.platform.appDatabases.query(APP, null, { sql, limit: 1 }, signal);
  await expect(query("DELETE FROM notes")).rejects.toThrow("must be one SELECT statement");
  await expect(query("SELECT missing FROM notes")).rejects.toThrow("no such column: missing");
});

test("the keys and objects of a Worker are listed and read on an edge that does not run it", async () => {
  const { appEntries } = other.platform;
  expect(await appEntries.listStores(APP)).toEqual([KEYS, OBJECTS]);
  const keys = await appEntries.list(APP, KEYS, ALL, signal);
  expect(keys.map(({ key, bytes, expires_at: expires }) => [key, bytes, expires === null])).toEqual([
    ["user:1", 20_000, false],
    ["user:2", 4, true],
  ]);
  expect(await appEntries.list(APP, KEYS, { ...ALL, after: "user:1" }, signal)).toMatchObject([{ key: "user:2" }]);
  expect(await appEntries.read(APP, KEYS, "user:1", signal)).toEqual({ text: "x".repeat(16_384), bytes: 20_000 });
  expect(await appEntries.read(APP, KEYS, "missing", signal)).toBeNull();
  expect(await appEntries.list(APP, OBJECTS, ALL, signal)).toMatchObject([
    { key: "a.txt", bytes: 5, content_type: "text/plain", expires_at: null },
  ]);
  expect(await appEntries.read(APP, OBJECTS, "a.txt", signal)).toBe("hello");
});

test("what a Worker stores is measured by kind", async () => {
  const bytes = await other.platform.storage.measure(APP, Infinity);
  expect(bytes.sql).toBeGreaterThan(0);
  expect(bytes.keyValue).toBeGreaterThan(20_000);
  expect(bytes.objects).toBeGreaterThan(0);
  expect(bytes.durable).toBe(0);
});
