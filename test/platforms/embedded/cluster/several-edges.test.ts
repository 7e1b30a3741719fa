import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openTestCluster, type TestCluster } from "../../../support/edge/cluster-edge.ts";
import { workerdPids } from "../../../support/edge/app-processes.ts";
import type { TestPlatform } from "../../../support/edge/test-platform.ts";

const KV = { type: "kv_namespace", name: "KV", namespace_id: "notes" };
const R2 = { type: "r2_bucket", name: "R2", bucket_name: "files" };
const D1 = { type: "d1", name: "DB", id: "anything" };
const COUNTER = { type: "durable_object_namespace", name: "COUNTER", class_name: "Counter" };
const ALL = { bindings: [KV, R2, D1, COUNTER] };

/** Adds one to a number in each kind of storage, and returns all four. */
const COUNTS = `import { DurableObject } from "cloudflare:workers";
export class Counter extends DurableObject {
  async fetch() {
    const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
    await this.ctx.storage.put("count", count);
    return Response.json(count);
  }
}
export default { async fetch(request, { KV, R2, DB, COUNTER }) {
  if (request.headers.get("user-agent") === "health-check") return new Response();
  const key = Number(await KV.get("count")) + 1;
  await KV.put("count", String(key));
  const object = Number(await (await R2.get("count"))?.text() ?? 0) + 1;
  await R2.put("count", String(object));
  await DB.exec("CREATE TABLE IF NOT EXISTS visits(at)");
  await DB.prepare("INSERT INTO visits VALUES (1)").run();
  const { count } = await DB.prepare("SELECT count(*) AS count FROM visits").first();
  const counter = COUNTER.get(COUNTER.idFromName("one"));
  return Response.json([key, object, count, await (await counter.fetch(request)).json()]);
} }`;

async function openTwo(cluster: TestCluster): Promise<[TestPlatform, TestPlatform]> {
  return [await cluster.openEdge(), await cluster.openEdge()];
}

test("each edge serves an app that was published on another one, and all have the same data", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await first.publish("shop", COUNTS, ALL);
  const counts: unknown[] = [];
  for (const edge of [first, second, first, second, second, first])
    counts.push(JSON.parse((await edge.request("shop")).text));
  expect(counts).toEqual([1, 2, 3, 4, 5, 6].map((n) => [n, n, n, n]));
});

test("another edge serves a new version, and not a removed app, after a second", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await first.publish("shop", "export default { fetch: () => new Response('one') }");
  expect((await second.request("shop")).text).toBe("one");
  await first.publish("shop", "export default { fetch: () => new Response('two') }", { generation: 2 });
  await expect.poll(async () => (await second.request("shop")).text, { timeout: 10_000 }).toBe("two");
  await second.platform.scripts.unpublish("shop");
  await expect.poll(async () => (await first.request("shop")).status, { timeout: 10_000 }).toBe(404);
});

test("a stale generation is refused on every edge", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await first.publish("shop", "export default { fetch: () => new Response('new') }", { generation: 2 });
  const late = second.publish("shop", "export default { fetch: () => new Response('old') }", { generation: 1 });
  await expect(late).rejects.toThrow("Generation 2 of the app is live");
  expect((await second.request("shop")).text).toBe("new");
});

test("two edges that publish different versions at the same time end with the newer one", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  const results = await Promise.allSettled(
    [first, second].map((edge, index) =>
      edge.publish("shop", `export default { fetch: () => new Response('${index + 1}') }`, { generation: index + 1 }),
    ),
  );
  expect(results[1]?.status).toBe("fulfilled");
  for (const edge of [first, second])
    await expect.poll(async () => (await edge.request("shop")).text, { timeout: 10_000 }).toBe("2");
});

test("a restriction, and the end of it, reach the other edges", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await first.publish("shop", "export default { fetch: () => new Response('open') }");
  expect((await second.request("shop")).status).toBe(200);
  const app = { slug: "shop", appId: "app-shop" };
  await first.platform.storage.restrict(app, { message: "The app is full.", servesOwner: false });
  await expect.poll(async () => (await second.request("shop")).status, { timeout: 10_000 }).toBe(507);
  await second.platform.storage.restrict(app, null);
  await expect.poll(async () => (await first.request("shop")).status, { timeout: 10_000 }).toBe(200);
});

test("an auth entry is effective on the other edges after a second", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  const entries = [first, second].map(({ platform }) => platform.authEntries);
  await entries[0]?.put({ appId: "app-1", tokenSha256: "a".repeat(64) });
  expect(await entries[1]?.get("app-1")).toEqual({ appId: "app-1", tokenSha256: "a".repeat(64) });
  await entries[0]?.remove("app-1");
  await expect.poll(() => entries[1]?.get("app-1"), { timeout: 10_000 }).toBeNull();
});

test("after the process of an app is killed, another edge has everything that was acknowledged", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await first.publish("shop", COUNTS, ALL);
  let acknowledged: unknown;
  for (let n = 0; n < 5; n++) acknowledged = JSON.parse((await first.request("shop")).text);
  expect(acknowledged).toEqual([5, 5, 5, 5]);
  const [pid] = await workerdPids(first.root);
  process.kill(Number(pid), "SIGKILL");
  const answered = async () => {
    const { status, text } = await second.request("shop");
    return status === 200 ? Math.min(...(JSON.parse(text) as number[])) : 0;
  };
  await expect.poll(answered, { timeout: 30_000 }).toBeGreaterThan(5);
});

test("a version is published, and a migration applied, although the process that had the database was just killed", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await first.platform.databases.create("db-shop");
  const reads = `export default { async fetch(request, { DB }) {
    await DB.exec("CREATE TABLE IF NOT EXISTS visits(at)");
    return Response.json(await DB.prepare("SELECT count(*) AS count FROM visits").first("count"));
  } }`;
  await first.publish("shop", reads, { bindings: [D1] });
  const kill = async (edge: TestPlatform) => process.kill(Number((await workerdPids(edge.root))[0]), "SIGKILL");
  await kill(first);
  const addition = { name: "1", statements: ["INSERT INTO visits VALUES (1)"] };
  await second.platform.databases.migrate("db-shop", [addition], AbortSignal.timeout(60_000));
  await second.publish("shop", reads, { bindings: [D1], generation: 2 });
  await kill(second);
  await first.publish("shop", reads, { bindings: [D1], generation: 3 });
  expect((await first.request("shop")).text).toBe("1");
}, 90_000);

test("no request fails while an edge is closed", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await first.publish("shop", COUNTS, ALL);
  await first.request("shop");
  await second.request("shop");
  const statuses: number[] = [];
  const closed = new AbortController();
  const traffic = (async () => {
    while (!closed.signal.aborted) statuses.push((await second.request("shop")).status);
  })();
  await sleep(200);
  await first.platform.close();
  closed.abort();
  await traffic;
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});

test("while the bucket cannot be reached, an edge serves the apps and entries that it has", async () => {
  await using cluster = await openTestCluster();
  const edge = await cluster.openEdge();
  await edge.publish("shop", "export default { fetch: () => new Response('open') }");
  await edge.platform.authEntries.put({ appId: "app-shop", tokenSha256: "a".repeat(64) });
  await cluster.server[Symbol.asyncDispose]();
  await sleep(1_100);
  expect((await edge.request("shop")).text).toBe("open");
  expect(await edge.platform.authEntries.get("app-shop")).toMatchObject({ appId: "app-shop" });
}, 60_000);

test("a removed app and its database leave nothing in the bucket", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await first.platform.databases.create("db-shop");
  await first.publish("shop", COUNTS, ALL);
  await first.request("shop");
  await second.request("shop");
  await first.platform.scripts.unpublish("shop");
  await first.platform.databases.remove("db-shop");
  const keys = async () => {
    // The other edge stops its process within a second. What that writes at its end is found by the next sweep.
    for (const id of await first.platform.databases.list()) await first.platform.databases.remove(id);
    const found: string[] = [];
    for await (const { key } of cluster.bucket.list("edge/")) found.push(key);
    return found;
  };
  await expect.poll(keys, { timeout: 20_000, interval: 500 }).toEqual([]);
  expect(await first.platform.scripts.list()).toEqual([]);
});
