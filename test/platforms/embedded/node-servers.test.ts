import { readdir } from "node:fs/promises";
import http from "node:http";
import { once } from "node:events";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ServerError, UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { publishServer } from "../../support/edge/node-server.ts";
import { eventually, openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";

let edge: TestPlatform;

beforeAll(async () => {
  edge = await openTestPlatform({ limits: { serverStartTimeoutMs: 20_000, maxActive: 100 } });
});
afterAll(() => edge[Symbol.asyncDispose]());

const textOf = async (slug: string, target?: string) => (await edge.request(slug, target)).text;
const messagesOf = async (slug: string) =>
  (await edge.platform.runtimeLogs.read({ slug, id: `app-${slug}` })).map(({ message }) => message);

/** A server with a route for each test of this file. */
const ROUTES = `
  const fs = require("fs");
  const http = require("http");
  const childProcess = require("child_process");
  const routes = {
    "/": (request, response) => response.end("ready " + process.pid),
    "/address": ({ socket }, response) => response.end([socket.remoteAddress, socket.localPort].join()),
    "/stream": (request, response) => {
      response.write("first ");
      setTimeout(() => response.end("last"), 50);
    },
    "/echo": (request, response) => request.pipe(response),
    "/self": ({ headers }, response) =>
      fetch("http://" + headers.host + "/address").then((own) => own.text(), ({ cause }) => String(cause))
        .then((text) => response.end(text)),
    "/loop": () => { for (;;); },
    "/child": (request, response) =>
      childProcess.execFile(process.execPath, ["-p", "6 * 7"], (error, text) => response.end(error?.message ?? text)),
    "/write": (request, response) => {
      for (const folder of ["/data", __dirname]) fs.appendFileSync(folder + "/visits.txt", "visit ");
      response.end();
    },
    "/files": (request, response) => response.end(JSON.stringify(
      ["/data/visits.txt", __dirname + "/visits.txt"].map((file) => fs.existsSync(file) && fs.readFileSync(file, "utf8")))),
    "/crash": () => setTimeout(() => { throw new RangeError("crashed on purpose"); }),
    "/secret": (request, response) => { console.log("token", process.env.TOKEN); response.end(process.env.TOKEN); },
  };`;
const SERVER = `${ROUTES}
  console.log("listening soon");
  http.createServer((request, response) => routes[request.url](request, response)).listen(process.env.PORT);`;

test("a server streams requests and responses, and its connections look like those of a local proxy", async () => {
  await publishServer(edge, "streams", SERVER);
  expect(await textOf("streams", "/stream")).toBe("first last");
  expect(await textOf("streams", "/address")).toBe("127.0.0.1,3000");
  const body = "x".repeat(3_000_000);
  const { text } = await edge.request("streams", "/echo", { method: "POST", body });
  expect(text === body).toBe(true);
});

test("a server reaches itself at the address of a request", async () => {
  await publishServer(edge, "selves", SERVER);
  expect(await textOf("selves", "/self")).toMatch(/127\.0\.0\.1,3000$/);
});

test("a server whose event loop never ends is killed, and starts again with the next request", async () => {
  await using hanging = await openTestPlatform({ limits: { hangMs: 1500 } });
  await publishServer(hanging, "loops", SERVER);
  expect((await hanging.request("loops", "/loop")).status).toBe(502);
  await hanging.logged("app process ended", { slug: "loops", reason: "hang" });
  expect((await hanging.request("loops")).text).toMatch(/^ready/);
});

test("a server starts other processes", async () => {
  await publishServer(edge, "children", SERVER);
  expect(await textOf("children", "/child")).toBe("42\n");
});

test("files in /data and beside the code stay after a crash, and with another version", async () => {
  await publishServer(edge, "files", SERVER);
  await edge.request("files", "/write");
  expect(JSON.parse(await textOf("files", "/files"))).toEqual(["visit ", "visit "]);
  await expect(edge.request("files", "/crash")).resolves.toMatchObject({ status: 502 });
  await edge.logged("app process ended", { slug: "files" });
  expect(JSON.parse(await textOf("files", "/files"))).toEqual(["visit ", "visit "]);
  await edge.request("files", "/write");
  await publishServer(edge, "files", `${SERVER}\n// Another version.`, { generation: 2 });
  expect(JSON.parse(await textOf("files", "/files"))).toEqual(["visit visit ", "visit visit "]);
});

test("a server can write to /data while another version starts, and after that one has failed", async () => {
  await publishServer(edge, "shared", SERVER);
  await expect(publishServer(edge, "shared", "process.exit(3);", { generation: 2 })).rejects.toThrow("with status 3");
  expect((await edge.request("shared", "/write")).status).toBe(200);
  expect(JSON.parse(await textOf("shared", "/files"))).toEqual(["visit ", "visit "]);
});

test("a server that crashes starts again with the next request, and its log says why it ended", async () => {
  await publishServer(edge, "crash", SERVER);
  await edge.request("crash", "/crash");
  await edge.logged("app process ended", { slug: "crash", reason: "crashed" });
  expect(await textOf("crash")).toMatch(/^ready /);
  const messages = await messagesOf("crash");
  expect(messages.filter((message) => message === "listening soon")).toHaveLength(2);
  expect(messages).toContainEqual(expect.stringMatching(/ended unexpectedly.*RangeError: crashed on purpose/s));
});

test("the secrets of an app are environment variables, and are masked in its log", async () => {
  edge.variables.set("app-secrets", { TOKEN: "a-long-secret-value" });
  await publishServer(edge, "secrets", SERVER);
  expect(await textOf("secrets", "/secret")).toBe("a-long-secret-value");
  const logged = await eventually(async () => (await messagesOf("secrets")).find((each) => each.startsWith("token")));
  expect(logged).not.toContain("a-long-secret-value");
});

test("a WebSocket connects a client with the server", async () => {
  await publishServer(
    edge,
    "sockets",
    `const { createHash } = require("crypto");
    const server = require("http").createServer((request, response) => response.end("page"));
    server.on("upgrade", ({ headers }, socket) => {
      const accept = createHash("sha1").update(headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
      socket.write("HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n" +
        "Sec-WebSocket-Accept: " + accept.digest("base64") + "\\r\\n\\r\\n");
      // A text frame of a server has no mask.
      socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from("hello")]));
      socket.on("data", (frame) => {
        const [mask, data] = [frame.subarray(2, 6), frame.subarray(6)];
        const text = data.map((byte, index) => byte ^ mask[index % 4]);
        socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
      });
    });
    server.listen(process.env.PORT);`,
  );
  const { port } = edge.platform;
  const headers = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
  const request = http.request({ port, headers: { ...headers, host: `sockets.localhost:${port}` } }).end();
  const [response, socket, head] = await once(request, "upgrade");
  expect(response.headers["sec-websocket-accept"]).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  let received: Buffer = head;
  socket.on("data", (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  socket.write(
    Buffer.concat([Buffer.from([0x81, 0x84, 1, 2, 3, 4]), Buffer.from("ping").map((byte, n) => byte ^ (n + 1))]),
  );
  await expect.poll(() => received.toString("latin1")).toContain("ping");
  expect(received.toString("latin1")).toContain("hello");
  socket.destroy();
});

test.each([
  ["of the variable PORT", "process.env.PORT"],
  ["of its own", "8123"],
  ["of its own, on the loopback interface", `4000, "127.0.0.1"`],
  ["in an object", `{ port: 5000, host: "::" }`],
])("a server that listens on a port %s is reached", async (_which, listen) => {
  const slug = `port-${listen.length}`;
  const code = `require("http").createServer((request, response) => response.end("reached")).listen(${listen});`;
  await publishServer(edge, slug, code);
  expect(await textOf(slug)).toBe("reached");
});

const listenOn = (port: string) =>
  `require("http").createServer((request, response) => response.end("port ${port}")).listen(${port});`;

test("of several ports, the one of the variable PORT gets the requests, also if the server listens on it last", async () => {
  await publishServer(edge, "ports", `${listenOn("9229")} setTimeout(() => { ${listenOn("3000")} }, 1000);`);
  await expect.poll(() => textOf("ports"), { timeout: 20_000 }).toBe("port 3000");
});

test("a port that the system chose gets no requests, because it is for other processes of the app", async () => {
  await publishServer(edge, "internal", `${listenOn("0")} setTimeout(() => { ${listenOn("8123")} }, 1000);`);
  expect(await textOf("internal")).toBe("port 8123");
});

test("a server that listens late is reached, also after it has searched for a free port or listened on one that the system chose", async () => {
  const late = `setTimeout(() => { ${listenOn("8123")} }, 7000);`;
  const search = `const search = require("net").createServer().listen(0, () => search.close()); ${late}`;
  const publishAll = [publishServer(edge, "search", search), publishServer(edge, "late", listenOn("0") + late)];
  await Promise.all(publishAll);
  expect(await textOf("search")).toBe("port 8123");
  await expect.poll(() => textOf("late")).toBe("port 8123");
});

test("a server that listens only on a port that the system chose is reached", async () => {
  await publishServer(edge, "any-port", listenOn("0"));
  expect(await textOf("any-port")).toBe("port 0");
});

test.each([
  ["root", "listen(80)"],
  ["root-host", 'listen({ port: "443", host: "0.0.0.0" })'],
])("a server that listens on a port that only root can use gets its requests: %s", async (slug, listen) => {
  await publishServer(
    edge,
    slug,
    `require("http").createServer((request, response) => response.end("reached")).${listen};`,
  );
  expect(await textOf(slug)).toBe("reached");
});

// After one for a socket, `require` of Node.js 20 does not resolve links such as those of pnpm.
test("a server that listens calls no function of fs that leaves the type of a file behind", async () => {
  const server = `
    const fs = require("fs");
    const calls = [];
    for (const name of ["stat", "lstat", "fstat", "statSync", "lstatSync", "fstatSync"]) {
      const original = fs[name];
      fs[name] = (...args) => { calls.push(name + " " + args[0]); return original(...args); };
    }
    require("http").createServer((request, response) => response.end(JSON.stringify(calls))).listen(process.env.PORT);`;
  await publishServer(edge, "types", server);
  expect(await textOf("types")).toBe("[]");
});

test("all processes of a cluster share the port", async () => {
  await publishServer(
    edge,
    "cluster",
    `const cluster = require("cluster");
    if (cluster.isPrimary) for (let n = 0; n < 2; n++) cluster.fork();
    else require("http").createServer((request, response) => response.end("worker " + process.pid)).listen(process.env.PORT);`,
  );
  expect(await textOf("cluster")).toMatch(/^worker \d+$/);
});

test("an ES module that imports node:http listens as well", async () => {
  const files = {
    "server.mjs": `import { createServer } from "node:http"; createServer((q, r) => r.end("module")).listen(process.env.PORT);`,
  };
  await publishServer(edge, "modules", files, { command: "node server.mjs" });
  expect(await textOf("modules")).toBe("module");
});

const failureOf = (slug: string, code: string) =>
  publishServer(edge, slug, code).then(
    () => new Error("The server was published"),
    (error: unknown) => error,
  );

test.each([
  ["exits", `console.log("first line"); console.error("DATABASE_URL is not set"); process.exit(3);`, "with status 3"],
  ["throws", `console.log("first line"); throw new TypeError("DATABASE_URL is not set");`, "TypeError: DATABASE_URL"],
  ["rejects", `console.log("first line"); Promise.reject(new Error("no DATABASE_URL is not set"));`, "Error: no"],
])("a server that %s is not published: the error quotes it, with the first lines", async (_case, code, message) => {
  const failure = await failureOf(`fails-${_case}`, code);
  expect(failure).toBeInstanceOf(UnhealthyScript);
  expect(failure).toMatchObject({
    message: expect.stringContaining(message),
    printed: expect.arrayContaining(["first line"]),
  });
  expect((failure as Error).message).toContain("DATABASE_URL is not set");
  expect(await edge.platform.scripts.liveGeneration(`fails-${_case}`)).toBeNull();
});

test("a server that never listens is not published, and no process or folder of it is left", async () => {
  await using slow = await openTestPlatform({ limits: { serverStartTimeoutMs: 3000 } });
  const publication = publishServer(slow, "silent", `console.log("waiting"); setInterval(() => {}, 1000);`);
  await expect(publication).rejects.toMatchObject({
    message: "The server did not listen on a port within 3 s.",
    printed: ["waiting"],
  });
  expect(await readdir(path.join(slow.root, "run"))).toEqual([]);
});

test("the first version with server errors is published with a problem, and a later one is not", async () => {
  const failing = `require("http").createServer((request, response) => {
    console.error(new Error("no such table: users"));
    response.writeHead(500).end();
  }).listen(process.env.PORT);`;
  const { problem } = await publishServer(edge, "errors", failing);
  expect(problem).toBeInstanceOf(ServerError);
  expect(problem?.message).toContain("no such table: users");
  await publishServer(edge, "errors", SERVER, { generation: 2 });
  await expect(publishServer(edge, "errors", failing, { generation: 3 })).rejects.toThrow("with status 500");
  expect(await textOf("errors")).toMatch(/^ready /);
});

test("a server that uses too much memory is stopped, and starts again with the next request", async () => {
  const code = `${ROUTES}
    const held = [];
    // In steps, so that the server still responds meanwhile.
    routes["/memory"] = () => setInterval(() => held.push(Buffer.alloc(16 * 1024 * 1024, 1)));
    http.createServer((request, response) => routes[request.url](request, response)).listen(process.env.PORT);`;
  await publishServer(edge, "memory", code);
  await expect(edge.request("memory", "/memory")).resolves.toMatchObject({ status: 502 });
  await edge.logged("app process ended", { slug: "memory", reason: "memory" });
  expect(await textOf("memory")).toMatch(/^ready /);
});
