import { once } from "node:events";
import { createConnection } from "node:net";
import { expect, test } from "vitest";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { EdgeClient } from "../../../server/platforms/remote/edge-client.ts";
import { openRemoteTestEdge, TOKEN_SECRET } from "../../support/edge/remote-edge.ts";

const APP = { id: "app-shop", slug: "shop" };
const LOGGING = `export default { fetch(request) { console.log(new URL(request.url).pathname); return new Response("ok"); } }`;

test("a client with another secret is refused, and one without TLS too", async () => {
  await using edge = await openRemoteTestEdge();
  using stranger = new EdgeClient({
    urls: [`https://127.0.0.1:${edge.port}`],
    tokenSecret: "x".repeat(32),
    patienceMs: 0,
  });
  await expect(stranger.call("/platform/list", [])).rejects.toMatchObject({ code: "unavailable" });
  const socket = createConnection(edge.port, "127.0.0.1");
  socket.end("POST /platform/list HTTP/1.1\r\nhost: edge\r\ncontent-length: 2\r\n\r\n[]");
  const closed = once(socket, "close");
  expect(await socket.toArray()).toEqual([]);
  await closed;
});

test("a method that is not a port is refused", async () => {
  await using edge = await openRemoteTestEdge();
  using client = new EdgeClient({
    urls: [`https://127.0.0.1:${edge.port}`],
    tokenSecret: TOKEN_SECRET,
  });
  for (const path of ["/platform/constructor", "/toString/call", "/supervisor/close", "/"])
    await expect(client.call(path, [])).rejects.toThrow("The edge failed");
});

test("a call waits for an edge that restarts, and one that does not come back is unavailable", async () => {
  await using edge = await openRemoteTestEdge();
  await edge.ports.databases.create("db-1");
  await edge.disconnect();
  const listed = edge.ports.databases.list();
  await edge.listen();
  expect(await listed).toEqual(["db-1"]);
  await edge.disconnect();
  using client = new EdgeClient({
    urls: [`https://127.0.0.1:${edge.port}`],
    tokenSecret: TOKEN_SECRET,
    patienceMs: 0,
  });
  await expect(client.call("/databases/list", [])).rejects.toThrow(ServiceError);
});

test("the log of an app is followed, also across a lost connection", async () => {
  await using edge = await openRemoteTestEdge();
  await edge.t.publish("shop", LOGGING);
  const messages: string[] = [];
  const stop = edge.ports.runtimeLogs.listen(APP, (records) => messages.push(...records.map(({ message }) => message)));
  await edge.t.request("shop", "/one");
  await expect.poll(() => messages).toContain("/one");
  await edge.disconnect();
  await edge.t.request("shop", "/two");
  await edge.listen();
  await edge.t.request("shop", "/three");
  await expect.poll(() => messages).toContain("/three");
  expect(messages.filter((message) => message !== "/")).toEqual(["/one", "/two", "/three"]);
  const stored = (await edge.ports.runtimeLogs.read(APP)).map(({ message }) => message);
  expect(stored).toEqual(expect.arrayContaining(["/one", "/two", "/three"]));
  stop();
});

test("a failed migration arrives as the error of the port", async () => {
  await using edge = await openRemoteTestEdge();
  const failed = edge.ports.databases.migrate(
    "db-1",
    [{ name: "1.sql", statements: ["SELEC 1"] }],
    new AbortController().signal,
  );
  await expect(failed).rejects.toMatchObject({ name: "MigrationFailed", message: expect.stringContaining("1.sql") });
});
