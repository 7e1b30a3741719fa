import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import http from "node:http";
import type { Socket } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { publishServer } from "../../support/edge/node-server.ts";
import { openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";
import { webSocketApp } from "../../support/edge/web-socket-app.ts";

const PLAIN = `export default { fetch: () => new Response("plain") }`;

/** A server with the package `ws`, whose path `/events` is a stream. */
const SERVER = `
  const { WebSocketServer } = require("ws");
  const server = require("http").createServer((request, response) => {
    if (request.url !== "/events") return response.end("plain");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: first\\n\\n");
  });
  new WebSocketServer({ server }).on("connection", (socket) => socket.on("message", (data) => socket.send(data + " null")));
  server.listen(process.env.PORT);`;

const EVENTS = `export default { fetch(request) {
  if (new URL(request.url).pathname !== "/events") return new Response("plain");
  // workerd ends a stream to which nothing can be written any more.
  const start = (controller) => {
    const send = () => controller.enqueue(new TextEncoder().encode("data: first\\n\\n"));
    send();
    setInterval(send, 1000);
  };
  return new Response(new ReadableStream({ start }), { headers: { "content-type": "text/event-stream" } });
} }`;

/** The files of the package `ws`, as an install puts them. */
async function installedWs(): Promise<Record<string, string>> {
  const folder = path.dirname(fileURLToPath(import.meta.resolve("ws/package.json")));
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.(?:m?js|json)$/.test(name));
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), "utf8")));
  return Object.fromEntries(names.map((name, index) => [`node_modules/ws/${name}`, texts[index] ?? ""]));
}

const publish = {
  node: async (t: TestPlatform) => publishServer(t, "shop", { ...(await installedWs()), "server.js": SERVER }),
  "worker with a WebSocket": (t: TestPlatform) => t.publish("shop", webSocketApp()),
  "worker with a stream": (t: TestPlatform) => t.publish("shop", EVENTS),
};

const open = () => openTestPlatform({ limits: { idleMs: 100 } });

async function openWebSocket({ platform: { port } }: TestPlatform): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host: `shop.localhost:${port}` } });
  await once(socket, "open");
  return socket;
}

async function exchange(socket: WebSocket): Promise<string> {
  socket.send("hello");
  const [data] = (await once(socket, "message")) as [Buffer];
  return data.toString();
}

async function openStream({ platform: { port } }: TestPlatform): Promise<http.ClientRequest> {
  const request = http.get({ port, path: "/events", agent: false, headers: { host: `shop.localhost:${port}` } });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const [chunk] = await once(response, "data");
  expect(String(chunk)).toBe("data: first\n\n");
  response.on("error", () => {});
  return request;
}

/** Waits until two other apps, which began to be idle after the connection was opened, have been stopped. */
async function waitForIdleStops(t: TestPlatform): Promise<void> {
  for (const slug of ["first", "second"]) {
    await t.publish(slug, PLAIN);
    await t.logged("idle app stopped", { slug });
  }
}

test.each(["node", "worker with a WebSocket"] as const)(
  "an open WebSocket keeps an app running until it is closed: %s",
  async (kind) => {
    await using t = await open();
    await publish[kind](t);
    const socket = await openWebSocket(t);
    expect(await exchange(socket)).toBe("hello null");
    await waitForIdleStops(t);
    expect([t.platform.supervisor.active, await exchange(socket)]).toEqual([["shop"], "hello null"]);
    socket.close();
    await t.logged("idle app stopped", { slug: "shop" });
  },
);

test.each(["node", "worker with a stream"] as const)(
  "an open event stream keeps an app running until it is closed: %s",
  async (kind) => {
    await using t = await open();
    await publish[kind](t);
    const request = await openStream(t);
    await waitForIdleStops(t);
    expect(t.platform.supervisor.active).toEqual(["shop"]);
    request.destroy();
    await t.logged("idle app stopped", { slug: "shop" });
  },
);

test("a WebSocket whose client disappears ends, because the kernel checks the connection", async () => {
  await using t = await open();
  await publish.node(t);
  const socket = await openWebSocket(t);
  const { localPort } = (socket as unknown as { _socket: Socket })._socket;
  const hex = (port = 0) => port.toString(16).toUpperCase().padStart(4, "0");
  const sockets = (await readFile("/proc/net/tcp", "utf8")).split("\n").map((line) => line.trim().split(/\s+/));
  const ofProxy = sockets.find(
    ([, local = "", remote = ""]) =>
      local.endsWith(`:${hex(t.platform.port)}`) && remote.endsWith(`:${hex(localPort)}`),
  );
  // The kind of the timer: 2 is that of TCP keep-alive.
  expect(ofProxy?.[5]).toMatch(/^02:/);
  socket.terminate();
});
