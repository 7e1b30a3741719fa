import { createHash } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { openTestCluster, type TestCluster } from "../../../support/edge/cluster-edge.ts";
import { publishServer } from "../../../support/edge/node-server.ts";
import { type Notes, NOTES_SERVER, readNotes } from "../../../support/edge/notes-server.ts";
import type { TestPlatform } from "../../../support/edge/test-platform.ts";

async function openTwo(cluster: TestCluster): Promise<[TestPlatform, TestPlatform]> {
  return [await cluster.openEdge(), await cluster.openEdge()];
}

async function add(edge: TestPlatform, text: string): Promise<Notes> {
  return readNotes(await edge.request("shop", `/${text}`, { method: "POST", body: "" }));
}

async function read(edge: TestPlatform, headers: Record<string, string> = {}): Promise<Notes> {
  return readNotes(await edge.request("shop", "/", { headers }));
}

/** Stops the process of the app, as when it is idle. */
function stop(edge: TestPlatform): Promise<void> {
  return edge.platform.supervisor.withDatabaseClosed("db-shop", async () => undefined);
}

test("what a Node server stores through one edge is read through the other, from the same process", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  const one = await add(first, "one");
  const two = await add(second, "two");
  expect(two).toMatchObject({ notes: ["one", "two"], newest: "two", started: one.started });
  expect(await read(first)).toMatchObject({ notes: ["one", "two"], started: one.started });
});

test("after an edge is closed, another one has everything that was written", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  for (const text of ["one", "two", "three"]) await add(first, text);
  await first.platform.close();
  expect(await read(second)).toMatchObject({ notes: ["one", "two", "three"], newest: "three", integrity: "ok" });
});

test("a stopped app starts with its data on the edge that gets the next request, also if it was there before", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  await add(first, "one");
  await stop(first);
  expect((await add(second, "two")).notes).toEqual(["one", "two"]);
  await stop(second);
  expect((await add(first, "three")).notes).toEqual(["one", "two", "three"]);
  expect([first, second].map(({ platform }) => platform.supervisor.active)).toEqual([["shop"], []]);
});

test("a version that is published on another edge has the data, and the first edge forwards to it", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  const one = await add(first, "one");
  await publishServer(second, "shop", NOTES_SERVER, { generation: 2 });
  expect(first.platform.supervisor.active).toEqual([]);
  const after = await read(second);
  expect(after.notes).toEqual(["one"]);
  expect(after.started).not.toBe(one.started);
  expect(await read(first)).toMatchObject({ notes: ["one"], started: after.started });
});

test("no request fails while its app moves to an edge that publishes a version, or leaves one that is closed", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  await add(first, "one");
  const statuses: number[] = [];
  const traffic = new AbortController();
  const sending = (async () => {
    while (!traffic.signal.aborted) statuses.push((await first.request("shop")).status);
  })();
  await publishServer(second, "shop", NOTES_SERVER, { generation: 2 });
  await second.platform.close();
  await expect.poll(() => first.platform.supervisor.active, { timeout: 20_000 }).toEqual(["shop"]);
  traffic.abort();
  await sending;
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect((await read(first)).notes).toEqual(["one"]);
});

test("requests that reach two edges at the same time start one process", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  await stop(first);
  const responses = await Promise.all([first, second, first, second].map((edge) => read(edge)));
  expect(new Set(responses.map(({ started }) => started)).size).toBe(1);
});

test("the app gets the client's address from the edge that the client has reached, and from no header of a client", async () => {
  await using cluster = await openTestCluster();
  const first = await cluster.openEdge();
  const second = await cluster.openEdge({ trustedProxies: ["127.0.0.1"] });
  await publishServer(first, "shop", NOTES_SERVER);
  const forwarded = await read(second, { "x-forwarded-for": "203.0.113.7" });
  expect([forwarded.client, forwarded.edge]).toEqual(["203.0.113.7", undefined]);
  const forged = `http 203.0.113.7 ${"0".repeat(64)}`;
  for (const edge of [first, second]) {
    const { client, edge: header } = await read(edge, { "x-service-edge": forged });
    expect([client, header]).toEqual(["127.0.0.1", undefined]);
  }
});

test("a forwarded request with the app's token is verified, and one with an invalid token is refused", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  const tokenSha256 = createHash("sha256").update("sva_valid").digest("hex");
  await first.platform.authEntries.put({ appId: "app-shop", tokenSha256 });
  expect((await read(second, { authorization: "Bearer sva_valid" })).auth).toBe("app");
  expect((await read(second)).auth).toBeUndefined();
  const { status } = await second.request("shop", "/", { headers: { authorization: "Bearer sva_other" } });
  expect(status).toBe(401);
});

test("the SQLite database of a Node server is read on every edge", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  await add(first, "one");
  const rows = async ({ platform }: TestPlatform) => {
    const app = { slug: "shop", appId: "app-shop" };
    const signal = AbortSignal.timeout(30_000);
    if ((await platform.appDatabases.describe(app, null, signal)) === null) return null;
    const query = { sql: "SELECT text FROM notes", limit: 10 };
    return (await platform.appDatabases.query(app, null, query, signal)).rows;
  };
  expect(await rows(first)).toEqual([["one"]]);
  // The other edge reads the last snapshot.
  await expect.poll(() => rows(second).catch(String), { timeout: 20_000 }).toEqual([["one"]]);
});

test("a WebSocket reaches an app on another edge", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  const headers = { host: "shop.localhost", connection: "Upgrade", upgrade: "websocket" };
  const request = http.request({ host: "127.0.0.1", port: second.platform.port, headers, agent: false });
  request.end();
  const [, socket] = (await once(request, "upgrade")) as [http.IncomingMessage, Socket];
  socket.write("hello");
  const [received] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  expect(received.toString()).toBe("hello");
});

test("the log of a Node server that uses PostgreSQL says that each edge has its own files", async () => {
  await using cluster = await openTestCluster();
  const edge = await cluster.openEdge();
  const server = `require("node:http").createServer((request, response) => response.end()).listen(process.env.PORT);`;
  await publishServer(edge, "shop", server, { postgres: { variables: {} } });
  const messages = async () =>
    (await edge.platform.runtimeLogs.read({ slug: "shop", id: "app-shop" })).map(({ message }) => message);
  await expect.poll(messages).toContainEqual(expect.stringContaining("Each has files of its own in /data"));
});

test("a removed Node server leaves nothing in the bucket", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = await openTwo(cluster);
  await publishServer(first, "shop", NOTES_SERVER);
  await add(second, "one");
  await stop(first);
  await read(second);
  await first.platform.scripts.unpublish("shop");
  const keys = async () => {
    const found: string[] = [];
    for await (const { key } of cluster.bucket.list("edge/")) found.push(key);
    return found;
  };
  // The other edge stops its process within a second.
  await expect.poll(keys, { timeout: 20_000, interval: 500 }).toEqual([]);
  await expect.poll(async () => (await second.request("shop")).status, { timeout: 20_000 }).toBe(404);
});
