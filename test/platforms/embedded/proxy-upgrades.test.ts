import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { APP_TOKEN, openLocalProxy } from "../../support/edge/local-proxy.ts";
import { eventually } from "../../support/edge/test-platform.ts";

const UPGRADE = "Connection: Upgrade\r\nUpgrade: WebSocket\r\n";

/** An app that accepts every upgrade, and then echoes. `sockets` are its open connections. */
function upgradingApp(
  head = "101 Switching Protocols",
  extra = "",
): { app: http.Server; sockets: Duplex[]; seen: http.IncomingMessage[] } {
  const sockets: Duplex[] = [];
  const seen: http.IncomingMessage[] = [];
  const app = http.createServer((request, response) => {
    seen.push(request);
    response.end("plain");
  });
  app.on("upgrade", (request, socket, first) => {
    seen.push(request);
    sockets.push(socket);
    socket.on("error", () => socket.destroy());
    socket.write(`HTTP/1.1 ${head}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${extra}\r\nhello `, "latin1");
    socket.write(first);
    socket.pipe(socket);
  });
  return { app, sockets, seen };
}

interface Connection {
  socket: net.Socket;
  received(): string;
}

/** Sends a request on a new connection, and collects what is received. */
function send(port: number, headers: string, rest = "", method = "GET"): Connection {
  const socket = net.connect(port, "127.0.0.1").setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  let received = "";
  socket.on("data", (chunk: string) => (received += chunk));
  socket.write(`${method} /chat HTTP/1.1\r\nHost: shop.localhost\r\n${headers}\r\n${rest}`);
  return { socket, received: () => received };
}

const receives = ({ received }: Connection, text: string) =>
  eventually(() => (received().includes(text) ? received() : undefined));

test("a WebSocket connects the client with the app, and each side with the bytes that were sent early", async () => {
  const { app, seen } = upgradingApp("101 Switching Protocols", "X-App: 1\r\nSet-Cookie: a=1; Domain=localhost\r\n");
  await using local = await openLocalProxy(app);
  const client = send(
    local.port,
    `${UPGRADE}Authorization: Bearer ${APP_TOKEN}\r\nX-Service-Auth: forged\r\n`,
    "early ",
  );
  await receives(client, "early ");
  client.socket.write("late");
  const received = await receives(client, "late");
  expect(received).toBe(
    "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nX-App: 1\r\n\r\nhello early late",
  );
  expect(seen[0]).toMatchObject({ method: "GET", url: "/chat" });
  expect(seen[0]!.headers).toMatchObject({ connection: "Upgrade", upgrade: "websocket", "x-service-auth": "app" });
  expect([local.acquired, local.requests, local.released]).toEqual([[true], ["app-1"], 0]);
  client.socket.destroy();
  await eventually(() => (local.released === 1 ? true : undefined));
});

test("a client that ends its side of a WebSocket still receives what the app sends", async () => {
  await using local = await openLocalProxy(upgradingApp().app);
  const client = send(local.port, UPGRADE);
  await receives(client, "hello");
  client.socket.end("last words");
  await once(client.socket, "close");
  expect(client.received()).toMatch(/hello last words$/);
});

test("the end of either side of a WebSocket ends the other", async () => {
  const { app, sockets } = upgradingApp();
  await using local = await openLocalProxy(app);
  for (const end of ["client", "app", "client error", "app error"]) {
    const client = send(local.port, UPGRADE);
    await receives(client, "hello");
    const appSocket = sockets.pop() as net.Socket;
    const [ended, other] = end.startsWith("client") ? [client.socket, appSocket] : [appSocket, client.socket];
    const closed = once(other, "close");
    if (end.endsWith("error")) ended.resetAndDestroy();
    else ended.destroy();
    await closed;
  }
  await eventually(() => (local.released === 4 ? true : undefined));
});

test("the request to the app ends when the client disconnects before the app has switched protocols", async () => {
  const upgrades: Duplex[] = [];
  const app = http.createServer().on("upgrade", (_request, socket) => void upgrades.push(socket));
  await using local = await openLocalProxy(app);
  const client = send(local.port, UPGRADE);
  const appSocket = await eventually(() => upgrades[0]);
  const closed = once(appSocket.resume(), "end");
  client.socket.destroy();
  await closed;
});

test("an app that does not switch protocols sends a plain response, which ends the connection", async () => {
  const app = http.createServer().on("upgrade", (_request, socket) => {
    socket.end("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno");
  });
  await using local = await openLocalProxy(app);
  const client = send(local.port, UPGRADE);
  await once(client.socket, "close");
  expect(client.received()).toMatch(/^HTTP\/1\.1 426 Upgrade Required\r\n[^]*\r\n\r\nno$/);
  expect(client.received().toLowerCase()).toContain("connection: close");
});

test("an app that closes the connection instead of switching protocols gets 502", async () => {
  const app = http.createServer().on("upgrade", (_request, socket) => socket.destroy());
  await using local = await openLocalProxy(app);
  const client = send(local.port, UPGRADE);
  await once(client.socket, "close");
  expect(client.received()).toMatch(/^HTTP\/1\.1 502 [^]*The app stopped before it responded/);
});

test("an app that fails in the middle of a plain response to an upgrade ends the connection", async () => {
  const app = http.createServer().on("upgrade", (_request, socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    setTimeout(() => (socket as net.Socket).resetAndDestroy(), 50);
  });
  await using local = await openLocalProxy(app);
  const client = send(local.port, UPGRADE);
  await once(client.socket, "close");
  expect(client.received()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*half$/);
});

test("the reason phrase of an app that switches protocols cannot add a header", async () => {
  await using local = await openLocalProxy(upgradingApp("101 a\u007fb").app);
  expect(await receives(send(local.port, UPGRADE), "hello")).toMatch(/^HTTP\/1\.1 101 \r\n/);
});

test.each([
  ["for another protocol", "Connection: Upgrade\r\nUpgrade: h2c\r\n", "", "GET"],
  ["with a body", `${UPGRADE}Content-Length: 3\r\n`, "abc", "GET"],
  ["with another method", UPGRADE, "", "POST"],
])("a request %s is not a WebSocket request", async (_, headers, body, method) => {
  const { app, sockets } = upgradingApp();
  await using local = await openLocalProxy(app);
  const client = send(local.port, headers, body, method);
  expect(await receives(client, "plain")).toContain("HTTP/1.1 200 OK");
  client.socket.destroy();
  expect(sockets).toEqual([]);
});

test("an upgrade that is refused gets the error, and its connection ends", async () => {
  await using local = await openLocalProxy(upgradingApp().app);
  const client = send(local.port, `${UPGRADE}Authorization: Bearer sva_other\r\n`);
  await once(client.socket, "close");
  expect(client.received()).toMatch(/^HTTP\/1\.1 401 [^]*Connection: close\r\n[^]*The app token is not valid/);
});

test("open WebSockets count towards the limits, and end when the proxy closes", async () => {
  const { app } = upgradingApp();
  await using local = await openLocalProxy(app, { limits: { requestsPerApp: 1, requestsPerClient: 1 } });
  const first = send(local.port, UPGRADE);
  await receives(first, "hello");
  await receives(send(local.port, UPGRADE), "503");
  first.socket.destroy();
  await eventually(() => (local.released === 1 ? true : undefined));
  const next = send(local.port, UPGRADE);
  await receives(next, "hello");
  const closed = once(next.socket, "close");
  await local.proxy.close(20_000);
  await closed;
});
