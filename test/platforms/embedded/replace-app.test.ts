import { watch } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { openTestPlatform } from "../../support/edge/test-platform.ts";

const HELLO = `export default { fetch: () => new Response("hello") }`;

const UNHEALTHY = `export default { fetch: () => new Response("", { status: 500 }) }`;

const STORAGE = { bindings: [{ type: "kv_namespace", name: "KV", namespace_id: "notes" }] };

test.each([
  ["without storage is started once", {}, 1],
  ["with storage is tried before it is started", STORAGE, 2],
])("a new version %s", async (_case, options, starts) => {
  await using t = await openTestPlatform();
  await t.publish("shop", HELLO);
  const folder = path.join(t.root, "run");
  const [old] = await readdir(folder);
  const changed = new Set<string | null>();
  // Each process has a folder of its own.
  const watcher = watch(folder, (_event, name) => changed.add(name));
  await t.publish("shop", HELLO.replace("hello", "new"), { ...options, generation: 2 });
  watcher.close();
  const started = [...changed].filter((name) => name !== old);
  expect([started.length, (await t.request("shop")).text]).toEqual([starts, "new"]);
});

test.each([
  ["does not start", "throw new Error();", {}],
  ["fails its health check", UNHEALTHY, {}],
  ["uses storage and fails its health check", UNHEALTHY, STORAGE],
])("a new version that %s leaves no process, and the earlier one serves", async (_case, script, options) => {
  await using t = await openTestPlatform();
  await t.publish("shop", HELLO);
  await expect(t.publish("shop", script, { ...options, generation: 2 })).rejects.toThrow("The");
  expect((await t.request("shop")).text).toBe("hello");
  expect(await readdir(path.join(t.root, "run"))).toHaveLength(1);
});
