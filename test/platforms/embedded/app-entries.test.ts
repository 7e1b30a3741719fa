import { readdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EntryStore } from "../../../domain/ports/app-entries.ts";
import { openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";

let edge: TestPlatform;
beforeAll(async () => {
  edge = await openTestPlatform();
});
afterAll(() => edge[Symbol.asyncDispose]());

const BINDINGS = [
  { type: "kv_namespace", name: "SETTINGS", namespace_id: "settings" },
  { type: "r2_bucket", name: "FILES", bucket_name: "files" },
];
const KEYS: EntryStore = { kind: "key_value", name: "SETTINGS" };
const OBJECTS: EntryStore = { kind: "objects", name: "FILES" };

/** Runs the statements of the request's body. */
const workerWith = (statements: string) => `export default {
  async fetch(request, { SETTINGS, FILES }) {
    if (request.method !== "POST") return new Response("hello");
    ${statements}
    return new Response("stored");
  },
};`;

const signal = AbortSignal.timeout(600_000);
const appOf = (slug: string) => ({ slug, appId: `app-${slug}` });
const list = (slug: string, store: EntryStore, page: { prefix?: string; after?: string; limit?: number } = {}) =>
  edge.platform.appEntries.list(appOf(slug), store, { prefix: "", after: null, limit: 100, ...page }, signal);
const read = (slug: string, store: EntryStore, key: string) =>
  edge.platform.appEntries.read(appOf(slug), store, key, signal);

async function publish(slug: string, statements: string): Promise<void> {
  await edge.publish(slug, workerWith(statements), { bindings: BINDINGS });
  expect((await edge.request(slug, "/", { method: "POST" })).text).toBe("stored");
}

test("the keys of a running Worker are listed in their order, by prefix and in pages", async () => {
  await publish(
    "keys",
    `await SETTINGS.put("user:2", "two");
     await SETTINGS.put("user:1", "one", { metadata: { a: 1 } });
     await SETTINGS.put("user:it's 100% \\u{1F600}", "");
     await SETTINGS.put("session", "x", { expirationTtl: 3600 });
     await SETTINGS.put("old", "x", { expiration: Math.floor(Date.now() / 1000) + 60 });`,
  );
  expect(await edge.platform.appEntries.listStores(appOf("keys"))).toEqual([KEYS, OBJECTS]);
  const entries = await list("keys", KEYS);
  expect(entries.map(({ key, bytes }) => [key, bytes])).toEqual([
    ["old", 1],
    ["session", 1],
    ["user:1", 3],
    ["user:2", 3],
    ["user:it's 100% \u{1F600}", 0],
  ]);
  expect(entries[1]).toMatchObject({ uploaded_at: null, content_type: null });
  const remaining = Date.parse(entries[1]?.expires_at ?? "") - Date.now();
  expect(remaining).toBeGreaterThan(0);
  expect(remaining).toBeLessThanOrEqual(3_600_000);
  expect((await list("keys", KEYS, { prefix: "user:", limit: 2 })).map(({ key }) => key)).toEqual(["user:1", "user:2"]);
  expect((await list("keys", KEYS, { prefix: "user:", after: "user:2" })).map(({ key }) => key)).toEqual([
    "user:it's 100% \u{1F600}",
  ]);
  expect(await list("keys", KEYS, { prefix: "USER" })).toEqual([]);
  expect(await read("keys", KEYS, "user:1")).toBe("one");
  expect(await read("keys", KEYS, "user:it's 100% \u{1F600}")).toBe("");
  expect(await read("keys", KEYS, "missing")).toBeNull();
  expect(await list("keys", OBJECTS)).toEqual([]);
});

test("the objects of a running Worker are listed with their types, and the beginning of each is returned", async () => {
  await publish(
    "objects",
    `await FILES.put("a/large.txt", "é".repeat(10_000), { httpMetadata: { contentType: "text/plain" } });
     await FILES.put("b.bin", new Uint8Array([0, 255]));
     const upload = await FILES.createMultipartUpload("c/parts");
     await upload.complete([await upload.uploadPart(1, "in parts")]);`,
  );
  const entries = await list("objects", OBJECTS);
  expect(entries.map(({ key, bytes, content_type: type }) => [key, bytes, type])).toEqual([
    ["a/large.txt", 20_000, "text/plain"],
    ["b.bin", 2, null],
    ["c/parts", 8, null],
  ]);
  expect(Date.parse(entries[0]?.uploaded_at ?? "")).toBeLessThanOrEqual(Date.now());
  expect(await read("objects", OBJECTS, "a/large.txt")).toEqual({ text: "é".repeat(8192), bytes: 20_000 });
  expect(await read("objects", OBJECTS, "b.bin")).toEqual({ base64: "AP8=", bytes: 2 });
  expect(await read("objects", OBJECTS, "c/parts")).toBe("in parts");
});

test("an unknown store is refused with the names of the others, and an app of another kind has none", async () => {
  await edge.publish("unknown", workerWith(""), { bindings: BINDINGS });
  await expect(list("unknown", { kind: "objects", name: "SETTINGS" })).rejects.toThrow(
    'store: the app has no such bucket. It has "FILES".',
  );
  await edge.publish("none", workerWith(""));
  expect(await edge.platform.appEntries.listStores(appOf("none"))).toEqual([]);
  await expect(read("none", KEYS, "a")).rejects.toThrow("store: the app has no such key-value namespace. It has none.");
  // The slug belongs to another app.
  const other = { slug: "unknown", appId: "another" };
  expect(await edge.platform.appEntries.listStores(other)).toEqual([]);
});

test("a damaged store is refused, and a link in place of a value is not followed", async () => {
  await publish("damaged", `await SETTINGS.put("a", "one");`);
  const files = (await readdir(edge.root, { recursive: true })).map((file) => path.join(edge.root, file));
  const ofApp = files.filter((file) => file.includes("damaged") && file.includes("/kv/"));
  const [blob = ""] = ofApp.filter((file) => file.includes("/blobs/"));
  const secret = path.join(edge.dataDirectory, "secret");
  await writeFile(secret, "of the service");
  await rm(blob);
  await symlink(secret, blob);
  expect(await read("damaged", KEYS, "a")).toBeNull();
  expect(await list("damaged", KEYS)).toMatchObject([{ key: "a", bytes: 0 }]);

  const [database = ""] = ofApp.filter((file) => /KVNamespaceObject.[0-9a-f]+[.]sqlite$/.test(file));
  await rm(`${database}-wal`, { force: true });
  await writeFile(database, "not a database".repeat(1000));
  await expect(list("damaged", KEYS)).rejects.toMatchObject({ code: "conflict" });
});
