import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import http from "node:http";
import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import {
  FrameReader,
  writeFrame,
} from "../../../server/drivers/bundler/inside/node-server/runtime/web-socket-frames.ts";
import { type PublishedProject, publishProject, startManifest } from "../../support/builds/publish-project.ts";
import type { PublishedPackage } from "../../support/builds/test-registry.ts";

/** The real package, which the toolchain contains. */
const WS: PublishedPackage = {
  name: "ws",
  version: "8.0.0",
  files: Object.fromEntries(
    globSync(["index.js", "wrapper.mjs", "lib/*.js"], { cwd: "node_modules/ws" }).map((file) => [
      file,
      readFileSync(`node_modules/ws/${file}`, "utf8"),
    ]),
  ),
  manifest: { exports: { ".": { import: "./wrapper.mjs", require: "./index.js" } } },
};

const SERVER = `
  import http from "node:http";
  import { WebSocketServer } from "ws";
  const closed = [];
  const server = http.createServer((request, response) => response.end(closed.join()));
  const sockets = new WebSocketServer({ server, path: "/chat", handleProtocols: () => "chat" });
  sockets.on("connection", (socket, request) => {
    socket.send("hello " + request.url + " " + request.headers["x-user"]);
    socket.on("close", (code, reason) => closed.push(code + " " + reason));
    socket.on("message", (data, isBinary) => {
      const text = String(data);
      if (text === "close") socket.close(4001, "as asked");
      else if (text === "terminate") socket.terminate();
      else if (text === "parts") { socket.send("one ", { fin: false }); socket.send("two"); }
      else if (text === "ping") socket.once("pong", () => socket.send("alive")).ping();
      else if (text === "later") setTimeout(() => socket.send("later"), 20);
      else for (const each of sockets.clients) each.send(isBinary ? data : "all: " + text);
    });
  });
  server.listen(process.env.PORT);`;

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;

/** A client that speaks the protocol itself, because no library lets a test choose the Host header. */
async function connect(app: PublishedProject, path: string, headers: Record<string, string> = {}) {
  const request = http.get({
    port: app.port,
    path,
    agent: false,
    headers: {
      host: `app.localhost:${app.port}`,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...headers,
    },
  });
  const event = await Promise.race([once(request, "upgrade"), once(request, "response")]);
  const [response, socket, head] = event as [http.IncomingMessage, Duplex, Buffer];
  const frames = new FrameReader();
  const messages = response.statusCode === 101 ? frames.read(head) : [];
  if (response.statusCode === 101) socket.on("data", (chunk: Buffer) => messages.push(...frames.read(chunk)));
  return {
    response,
    messages,
    send: (text: string) => socket.write(writeFrame(TEXT, Buffer.from(text))),
    sendBinary: (bytes: Buffer) => socket.write(writeFrame(BINARY, bytes)),
    close: (code: number, reason: string) =>
      socket.write(writeFrame(CLOSE, Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]))),
    /** The next message. The time limit of the test ends the wait. */
    next: async () => {
      while (messages.length === 0) await once(socket, "data");
      return messages.shift();
    },
  };
}

const textMessage = (text: string) => ({ opcode: TEXT, payload: Buffer.from(text) });

test("a Node server with the package ws gets and sends messages, in both directions and to several clients", async () => {
  await using app = await publishProject(
    { "package.json": startManifest("node server.mjs", { dependencies: { ws: "8.0.0" } }), "server.mjs": SERVER },
    [WS],
  );
  await app.published;
  const one = await connect(app, "/chat?a=1", { "x-user": "ada", "sec-websocket-protocol": "chat, other" });
  expect([one.response.statusCode, one.response.headers["sec-websocket-protocol"]]).toEqual([101, "chat"]);
  expect(await one.next()).toEqual(textMessage("hello /chat?a=1 ada"));
  const two = await connect(app, "/chat");
  expect(await two.next()).toEqual(textMessage("hello /chat undefined"));

  one.send("grüße");
  expect([await one.next(), await two.next()]).toEqual([textMessage("all: grüße"), textMessage("all: grüße")]);
  for (const length of [125, 126, 65_535, 65_536, 300_000]) {
    one.sendBinary(Buffer.alloc(length, 7));
    const expected = { opcode: BINARY, payload: Buffer.alloc(length, 7) };
    expect([await one.next(), await two.next()]).toEqual([expected, expected]);
  }
  for (const [request, response] of [
    ["parts", "one two"],
    ["ping", "alive"],
    ["later", "later"],
  ] as const) {
    one.send(request);
    expect(await one.next()).toEqual(textMessage(response));
  }

  one.send("close");
  expect(await one.next()).toEqual({ opcode: CLOSE, payload: Buffer.from([0x0f, 0xa1, ...Buffer.from("as asked")]) });
  one.close(4001, "as asked");
  two.close(4002, "bye");
  expect(await two.next()).toMatchObject({ opcode: CLOSE });
  await expect.poll(() => app.get("/")).toBe("4001 as asked,4002 bye");
});

test("a request for a WebSocket that the server rejects gets its response, and other requests are served", async () => {
  await using app = await publishProject(
    { "package.json": startManifest("node server.mjs", { dependencies: { ws: "8.0.0" } }), "server.mjs": SERVER },
    [WS],
  );
  await app.published;
  expect((await connect(app, "/other")).response.statusCode).toBe(400);
  expect(await app.get("/chat")).toBe("");
});

test("a request for a WebSocket to a server without one gets its usual response", async () => {
  await using app = await publishProject(
    {
      "package.json": startManifest("node server.js"),
      "server.js": `require("http").createServer((request, response) => response.writeHead(418).end()).listen(3000);`,
    },
    [],
  );
  await app.published;
  expect((await connect(app, "/")).response.statusCode).toBe(418);
});

test("a server can respond to a request for a WebSocket with a response for its socket", async () => {
  await using app = await publishProject(
    {
      "package.json": startManifest("node server.js"),
      "server.js": `
        const http = require("http");
        const server = http.createServer((request, response) => response.end());
        server.on("upgrade", (request, socket) => {
          const response = new http.ServerResponse(request);
          response.assignSocket(socket);
          response.setHeader("x-reason", "token");
          response.writeHead(401, { "content-type": "text/plain" }).end("no token");
        });
        server.listen(process.env.PORT);`,
    },
    [],
  );
  await app.published;
  const { response } = await connect(app, "/");
  expect(response).toMatchObject({
    statusCode: 401,
    headers: expect.objectContaining({ "x-reason": "token", "content-type": "text/plain" }),
  });
});
