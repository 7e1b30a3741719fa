import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import net from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openLocalProxy } from "../../support/edge/local-proxy.ts";
import { eventually, sendRequest } from "../../support/edge/test-platform.ts";

/** An app that responds with the headers that it received. */
const echo = () => http.createServer((request, response) => response.end(JSON.stringify(request.headers)));

/** A server that writes these bytes for each request without a body. */
const rawServer = (respond: (socket: net.Socket, requestNumber: number) => void) => {
  let requests = 0;
  return net.createServer((socket) => {
    socket.on("error", () => socket.destroy()).on("data", () => respond(socket, ++requests));
  });
};

const HOST = "shop.localhost";

test("the method, the target and the body of a request reach the app, and its response the client", async () => {
  const app = http.createServer((request, response) => {
    response.writeHead(203, "Fine", { "X-App": "1", "x-request-id": "of the app" });
    response.write(`${request.method} ${request.url} `);
    request.pipe(response);
  });
  await using local = await openLocalProxy(app);
  const request = http.request({ port: local.port, method: "PUT", path: "/a?b=%2F", headers: { host: HOST } });
  request.end("body");
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect([response.statusCode, response.statusMessage, await text(response)]).toEqual([
    203,
    "Fine",
    "PUT /a?b=%2F body",
  ]);
  expect(response.headers).toMatchObject({ "x-app": "1", "x-request-id": "of the app" });
  expect([local.acquired, local.requests]).toEqual([[false], ["app-1"]]);
  await eventually(() => (local.released === 1 ? true : undefined));
});

test("a response without a request id gets the one that the app received", async () => {
  await using local = await openLocalProxy(echo());
  const given = await sendRequest(local.port, HOST, "/", { headers: { "x-request-id": "abc" } });
  expect([given.headers["x-request-id"], JSON.parse(given.text)["x-request-id"]]).toEqual(["abc", "abc"]);
  const { headers, text: body } = await sendRequest(local.port, HOST);
  expect(headers["x-request-id"]).toBe(JSON.parse(body)["x-request-id"]);
});

test("requests without a body reuse a connection to the app, and others do not", async () => {
  const app = echo();
  let connections = 0;
  app.on("connection", () => connections++);
  await using local = await openLocalProxy(app);
  const opened: number[] = [];
  const bodies = [["GET"], ["GET"], ["HEAD"], ["POST", ""], ["PUT", "x"], ["GET", "x"]] as const;
  for (const [method, body = ""] of bodies) {
    await sendRequest(local.port, HOST, "/", { method, headers: { "content-length": `${body.length}` }, body });
    opened.push(connections);
  }
  expect(opened).toEqual([1, 1, 1, 2, 3, 4]);
});

test("a request is repeated if the app closed the reused connection, and otherwise gets 502", async () => {
  let requests = 0;
  const app = rawServer((socket, number) => {
    requests = number;
    if (number === 2 || number === 4) socket.resetAndDestroy();
    else if (number === 5) socket.write("no HTTP\r\n\r\n");
    else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  await using local = await openLocalProxy(app);
  const results = [await sendRequest(local.port, HOST), await sendRequest(local.port, HOST)];
  expect([results.map(({ text: body }) => body), requests]).toEqual([["ok", "ok"], 3]);
  const stopped = await sendRequest(local.port, HOST, "/", { method: "POST", headers: { "content-length": "0" } });
  const malformed = await sendRequest(local.port, HOST);
  for (const { status, text: body } of [stopped, malformed])
    expect([status, JSON.parse(body)]).toEqual([502, { error: "The app stopped before it responded." }]);
  expect(requests).toBe(5);
});

test("a request whose client has disconnected is not repeated", async () => {
  const received = Promise.withResolvers<void>();
  let requests = 0;
  const app = rawServer((socket, number) => {
    requests = number;
    if (number === 1) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    else received.resolve();
  });
  await using local = await openLocalProxy(app);
  await sendRequest(local.port, HOST);
  const request = http.get({ port: local.port, headers: { host: HOST }, agent: false }).on("error", () => undefined);
  await received.promise;
  request.destroy();
  await eventually(() => (local.released === 2 ? true : undefined));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(requests).toBe(2);
});

test("a large body reaches the app completely", async () => {
  const app = http.createServer((request, response) => {
    let bytes = 0;
    request.on("data", (chunk: Buffer) => (bytes += chunk.length)).on("end", () => response.end(String(bytes)));
  });
  await using local = await openLocalProxy(app);
  const body = Buffer.alloc(3_000_000);
  expect((await sendRequest(local.port, HOST, "/", { method: "POST", body })).text).toBe("3000000");
});

test("502 is the response for an app that cannot be reached", async () => {
  const app = net.createServer((socket) => socket.resetAndDestroy());
  await using local = await openLocalProxy(app);
  expect((await sendRequest(local.port, HOST)).status).toBe(502);
});

test.each([
  ["with too large headers", `200 OK\r\nX-Large: ${"x".repeat(65 * 1024)}`, "exceed 64 KiB"],
  ["with an invalid status", "099 Low", "is invalid"],
])("502 is the response to a response %s, and ends its connection", async (_, head, message) => {
  const closed = Promise.withResolvers<void>();
  const app = rawServer((socket) => {
    socket.once("close", () => closed.resolve());
    socket.write(`HTTP/1.1 ${head}\r\nContent-Length: 10\r\n\r\nhalf`);
  });
  await using local = await openLocalProxy(app);
  const { status, text: body } = await sendRequest(local.port, HOST);
  expect([status, JSON.parse(body).error]).toEqual([502, expect.stringContaining(message)]);
  await closed.promise;
});

test("response headers of 60 KiB are forwarded", async () => {
  const app = http.createServer((_request, response) => {
    response.writeHead(200, { "x-large": "x".repeat(60 * 1024) }).end();
  });
  await using local = await openLocalProxy(app);
  expect((await sendRequest(local.port, HOST)).headers["x-large"]).toHaveLength(60 * 1024);
});

test.each([
  ["Just fine\t\u00e9!~", "Just fine\t\u00e9!~"],
  ["a\u007fb", ""],
])("the reason phrase %j becomes %j", async (sent, expected) => {
  const app = rawServer((socket) => socket.write(`HTTP/1.1 200 ${sent}\r\nContent-Length: 0\r\n\r\n`, "latin1"));
  await using local = await openLocalProxy(app);
  const request = http.get({ port: local.port, headers: { host: HOST } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect(response.statusMessage).toBe(expected);
});

test("a response that the app cuts off is cut off for the client too", async () => {
  const app = rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    setTimeout(() => socket.resetAndDestroy(), 50);
  });
  await using local = await openLocalProxy(app);
  await expect(sendRequest(local.port, HOST)).rejects.toThrow("aborted");
  await eventually(() => (local.released === 1 ? true : undefined));
});

test("the request to the app ends when the client disconnects", async () => {
  const closed = Promise.withResolvers<void>();
  const app = http.createServer((_request, response) => {
    response.on("close", () => closed.resolve()).write("first");
  });
  await using local = await openLocalProxy(app);
  const request = http.get({ port: local.port, headers: { host: HOST }, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  request.destroy();
  await closed.promise;
  await eventually(() => (local.released === 1 ? true : undefined));
});

test("an app that is acquired after the client has disconnected gets no request", async () => {
  const gone = Promise.withResolvers<void>();
  let requests = 0;
  const app = echo().on("request", () => requests++);
  await using local = await openLocalProxy(app, { beforeAcquire: () => gone.promise });
  const upgrade = { connection: "Upgrade", upgrade: "websocket" };
  for (const [at, headers] of [{}, upgrade].entries()) {
    const socket = net.connect(local.port, "127.0.0.1");
    const lines = Object.entries({ host: HOST, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET / HTTP/1.1\r\n${lines.join("")}\r\n`);
    await eventually(() => (local.acquired.length > at ? true : undefined));
    socket.resetAndDestroy();
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  gone.resolve();
  await eventually(() => (local.released === 2 ? true : undefined));
  expect(requests).toBe(0);
});

test("an app that responds without reading a body does not block the next request of the connection", async () => {
  const app = http.createServer((request, response) => {
    if (request.method === "POST") response.writeHead(200, { connection: "close" }).end("early");
    else response.end("next");
  });
  await using local = await openLocalProxy(app);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const send = async (method: string, body: Buffer) => {
    const request = http.request({ port: local.port, method, headers: { host: HOST }, agent });
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return text(response);
  };
  const responses = [await send("POST", Buffer.alloc(3_000_000)), await send("PUT", Buffer.alloc(0))];
  agent.destroy();
  expect(responses).toEqual(["early", "next"]);
});
