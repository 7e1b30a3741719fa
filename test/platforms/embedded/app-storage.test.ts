import { expect, test } from "vitest";
import { openTestPlatform } from "../../support/edge/test-platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const KV = [{ type: "kv_namespace", name: "KV", namespace_id: "values" }];
const SCRIPT = `export default {
  async fetch(request, { KV }) {
    if (request.method === "PUT") await KV.put("key", new Uint8Array(100_000));
    return new Response("hello");
  },
};`;
const STOPPED = { message: "stopped", servesOwner: true };

test("a restriction outlasts a restart and a deployment, and ends when it is removed", async () => {
  await using folder = await temporaryFolder();
  const app = { appId: "app-one", slug: "one" };
  const statusOf = async (edge: Awaited<ReturnType<typeof openTestPlatform>>) => (await edge.request("one")).status;
  {
    await using edge = await openTestPlatform({ dataDirectory: folder.path });
    await edge.publish("one", SCRIPT);
    await edge.publish("two", SCRIPT);
    expect(await statusOf(edge)).toBe(200);
    await edge.platform.storage.restrict(app, STOPPED);
    expect(edge.platform.supervisor.active).toEqual(["two"]);
    const refused = await edge.request("one");
    expect([refused.status, refused.text]).toEqual([507, JSON.stringify({ error: "stopped" })]);
    expect((await edge.request("two")).status).toBe(200);
  }
  await using edge = await openTestPlatform({ dataDirectory: folder.path });
  expect(await statusOf(edge)).toBe(507);
  expect(edge.platform.supervisor.active).toEqual([]);
  await edge.publish("one", SCRIPT, { generation: 2 });
  expect(await statusOf(edge)).toBe(507);
  await edge.platform.storage.restrict(app, null);
  expect(await statusOf(edge)).toBe(200);
  await edge.platform.storage.restrict({ appId: "another", slug: "one" }, STOPPED);
  await edge.platform.storage.restrict({ appId: "app-one", slug: "missing" }, STOPPED);
  expect(await statusOf(edge)).toBe(200);
});

test("only apps that ran since they were measured are listed, and only their data counts", async () => {
  await using folder = await temporaryFolder();
  {
    await using edge = await openTestPlatform({ dataDirectory: folder.path });
    await edge.publish("idle", SCRIPT, { bindings: KV });
    await edge.publish("busy", SCRIPT, { bindings: KV });
    await edge.request("busy", "/", { method: "PUT" });
  }
  await using edge = await openTestPlatform({ dataDirectory: folder.path });
  const { storage } = edge.platform;
  const listed = async () => (await storage.listChanged()).map(({ slug }) => slug).toSorted();
  const measure = (slug: string) => storage.measure({ slug, appId: `app-${slug}` }, Infinity);
  expect(await listed()).toEqual(["busy", "idle"]);
  const [busy, idle] = [await measure("busy"), await measure("idle")];
  expect(busy).toEqual({ sql: 0, keyValue: expect.any(Number), objects: 0, durable: 0 });
  expect(busy.keyValue - idle.keyValue).toBeGreaterThan(100_000);
  expect(idle.keyValue).toBeLessThan(20_000);
  expect(await listed()).toEqual([]);
  await edge.request("busy");
  await measure("busy");
  // It runs, so it can write again.
  expect(await listed()).toEqual(["busy"]);
  await edge.platform.supervisor.withAppStopped("busy", async () => undefined);
  await measure("busy");
  expect(await listed()).toEqual([]);
  expect(await storage.measure({ slug: "busy", appId: "another" }, Infinity)).toMatchObject({ keyValue: 0 });
});
