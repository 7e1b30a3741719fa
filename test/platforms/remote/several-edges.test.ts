import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { EdgeClient } from "../../../server/platforms/remote/edge-client.ts";
import type { EdgePorts } from "../../../server/platforms/remote/edge-methods.ts";
import { openTestEdge, openTwoEdges, TOKEN_SECRET } from "../../support/edge/remote-edge.ts";
import { eventually } from "../../support/edge/test-platform.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const HELLO = `export default { fetch: () => new Response("hello") }`;
const MODE = `import { env } from "cloudflare:workers";
if (env.MODE === "broken") throw new Error("broken");
export default { fetch: () => new Response(env.MODE) };`;
const VALUE_BYTES = 100_000;
const KV = [{ type: "kv_namespace", name: "KV", namespace_id: "values" }];
const WRITING = `export default { async fetch(request, { KV }) {
  await KV.put("key", new Uint8Array(${VALUE_BYTES}));
  return new Response("written");
} }`;
const ASSET_BYTES = 20 * 1024 * 1024;
const app = (slug: string) => ({ appId: `app-${slug}`, slug });
const signal = () => AbortSignal.timeout(60_000);

test("calls go to the first edge, and to the next one when it cannot be reached, which is preferred from then on", async () => {
  await using edges = await openTwoEdges();
  const { first, second, client, ports } = edges;
  const created = async () => [
    await first.t.platform.databases.list(),
    await second.t.platform.databases.list(),
    client.host,
  ];
  await ports.databases.create("one");
  expect(await created()).toEqual([["one"], [], "127.0.0.1"]);
  await first.disconnect();
  await ports.databases.create("two");
  await first.listen();
  await ports.databases.create("three");
  expect(await created()).toEqual([["one"], ["three", "two"], "127.0.0.2"]);
  await second.disconnect();
  expect(await ports.databases.list()).toEqual(["one"]);
});

test("a call in progress on an edge that ends continues on another one", async () => {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const change = (ports: EdgePorts): EdgePorts => {
    const list = async () => {
      started.resolve();
      await ended.promise;
      return ports.databases.list();
    };
    return { ...ports, databases: Object.assign(Object.create(ports.databases), { list }) };
  };
  await using edges = await openTwoEdges({ change });
  await edges.second.t.platform.databases.create("of-the-second");
  const listed = edges.ports.databases.list();
  await started.promise;
  await edges.first.disconnect();
  expect(await listed).toEqual(["of-the-second"]);
  ended.resolve();
});

test("an aborted call does not continue on another edge", async () => {
  await using edges = await openTwoEdges();
  await edges.first.disconnect();
  const aborted = AbortSignal.abort(new Error("enough"));
  const migrated = edges.ports.databases.migrate("one", [{ name: "1.sql", statements: ["SELECT 1"] }], aborted);
  await expect(migrated).rejects.toThrow("enough");
  expect(await edges.second.t.platform.databases.list()).toEqual([]);
});

test("a publication whose edge ends while it receives the files continues on another one, with all files", async () => {
  await using folder = await temporaryFolder();
  await using edges = await openTwoEdges();
  const { first, second } = edges;
  const scriptPath = await writeUploadForm(path.join(folder.path, "shop.form"), HELLO, {});
  const directory = path.join(folder.path, "assets");
  await mkdir(directory);
  for (const name of ["a.txt", "b.txt", "c.txt"])
    await writeFile(path.join(directory, name), Buffer.alloc(ASSET_BYTES, name));
  const script = {
    ...{ appId: "app-shop", generation: 1, databaseId: "db-shop" },
    code: { runtime: "worker" as const, scriptPath },
    assets: { directory, rules: {} },
  };
  const published = edges.ports.platform.publish("shop", script, signal());
  const publications = path.join(first.t.dataDirectory, "publications");
  await eventually(async () => ((await readdir(publications)).length > 0 ? true : undefined));
  await first.disconnect();
  expect(await published).toMatchObject({ url: "http://shop.localhost", problem: null });
  expect(await first.t.platform.scripts.list()).toEqual([]);
  expect((await second.t.request("shop")).text).toBe("hello");
  for (const name of ["a.txt", "b.txt", "c.txt"]) {
    const { text } = await second.t.request("shop", `/${name}`);
    expect([text.length, text.slice(0, 5)]).toEqual([ASSET_BYTES, name]);
  }
});

test("an edge whose machine does not respond is passed over", async () => {
  await using edge = await openTestEdge();
  await edge.t.platform.databases.create("one");
  // It accepts connections, as the kernel does for a process that does not run.
  const silent = createServer().listen(0, "127.0.0.2");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  using client = new EdgeClient({ urls: [`https://127.0.0.2:${port}`, edge.url], tokenSecret: TOKEN_SECRET });
  expect(await client.call("/databases/list", [])).toEqual(["one"]);
  expect(client.host).toBe("127.0.0.1");
  silent.close();
});

test("calls fail, and the check too, when no edge can be reached", async () => {
  await using edges = await openTwoEdges({ patienceMs: 0 });
  const { first, second, client, ports } = edges;
  await expect(client.check()).resolves.toBeUndefined();
  await first.disconnect();
  await expect(client.check()).resolves.toBeUndefined();
  expect(client.host).toBe("127.0.0.2");
  await second.disconnect();
  await expect(client.check()).rejects.toThrow("All promises were rejected");
  await expect(ports.databases.list()).rejects.toThrow(ServiceError);
  await expect(ports.storage.listChanged()).rejects.toMatchObject({ code: "unavailable" });
  await expect(ports.platform.restart("shop", signal())).rejects.toMatchObject({ code: "unavailable" });
});

test("a restart reaches every edge that can be reached, and fails if it fails on one", async () => {
  await using edges = await openTwoEdges();
  const { first, second, ports } = edges;
  const texts = async () => [(await first.t.request("shop")).text, (await second.t.request("shop")).text];
  for (const { t } of [first, second]) {
    t.variables.set("app-shop", { MODE: "old" });
    await t.publish("shop", MODE);
    t.variables.set("app-shop", { MODE: "new" });
  }
  expect(await texts()).toEqual(["old", "old"]);
  await ports.platform.restart("shop", signal());
  expect(await texts()).toEqual(["new", "new"]);
  first.t.variables.set("app-shop", { MODE: "newest" });
  second.t.variables.set("app-shop", { MODE: "broken" });
  await expect(ports.platform.restart("shop", signal())).rejects.toThrow(UnhealthyScript);
  expect(await texts()).toEqual(["newest", "new"]);
  await second.disconnect();
  await ports.platform.restart("shop", signal());
  expect(await texts()).toEqual(["newest", "new"]);
});

test("every edge gets the apps that are always on", async () => {
  await using edges = await openTwoEdges({ limits: { idleMs: 100 } });
  const { first, second, ports } = edges;
  for (const { t } of [first, second]) {
    await t.publish("bot", HELLO);
    await t.logged("idle app stopped", { slug: "bot" });
  }
  ports.alwaysOn.set([app("bot")]);
  for (const { t } of [first, second])
    await eventually(() => (t.platform.supervisor.active.includes("bot") ? true : undefined));
  expect(first.t.platform.supervisor.active).toEqual(["bot"]);
});

test("the changed apps of every edge are listed, and each is measured where it was listed", async () => {
  await using edges = await openTwoEdges({ limits: { idleMs: 100 } });
  const { first, second, ports } = edges;
  const listed = async () => (await ports.storage.listChanged()).map(({ slug }) => slug).toSorted();
  await first.t.publish("both", WRITING, { bindings: KV });
  await second.t.publish("both", WRITING, { bindings: KV });
  await second.t.publish("shop", HELLO);
  await first.disconnect();
  expect(await listed()).toEqual(["both", "shop"]);
  await first.listen();
  expect(await listed()).toEqual(["both", "shop"]);
  await second.t.request("both");
  for (const { t } of [first, second])
    await eventually(() => (t.platform.supervisor.active.length === 0 ? true : undefined));
  expect((await ports.storage.measure(app("both"), Infinity)).keyValue).toBeGreaterThan(VALUE_BYTES);
  expect(await listed()).toEqual(["shop"]);
  await second.disconnect();
  // No edge that listed it can be reached.
  expect(await ports.storage.measure(app("shop"), Infinity)).toEqual({ sql: 0, keyValue: 0, objects: 0, durable: 0 });
  expect(await listed()).toEqual([]);
});
