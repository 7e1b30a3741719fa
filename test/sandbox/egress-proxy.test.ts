import { once } from "node:events";
import { access } from "node:fs/promises";
import { createServer, request } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { EgressProxy, type EgressOptions } from "../../server/sandbox/egress-proxy.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** An HTTP server on the loopback interface that tells what it was asked. */
async function echoServer() {
  const server = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const proxy = headers["proxy-connection"] ?? null;
    void text(incoming).then((body) => response.end(JSON.stringify({ method, url, host: headers.host, proxy, body })));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The name resolves to the given address, whatever it is. */
function resolvingTo(address: string): EgressOptions["lookup"] {
  return () => Promise.resolve([{ address, family: address.includes(":") ? 6 : 4 }]);
}

interface Answer {
  status: number;
  body: string;
}

/** Asks in absolute form, as programs do for `http:` URLs. */
async function ask(proxy: EgressProxy, url: string, { method = "GET", body = "" } = {}): Promise<Answer> {
  const headers = { host: "spoofed.test", "proxy-connection": "keep-alive" };
  const outgoing = request({ socketPath: proxy.socketPath, method, path: url, headers }).end(body);
  const [response] = await once(outgoing, "response");
  return { status: response.statusCode, body: await text(response) };
}

/** Asks for a tunnel, as programs do for `https:` URLs, and sends one request through it. */
async function tunnel(proxy: EgressProxy, authority: string): Promise<Answer> {
  const outgoing = request({ socketPath: proxy.socketPath, method: "CONNECT", path: authority }).end();
  const [response, socket] = await once(outgoing, "connect");
  if (response.statusCode !== 200) return { status: response.statusCode, body: "" };
  socket.end("GET /tunnelled HTTP/1.1\r\nHost: inside\r\nConnection: close\r\n\r\n");
  return { status: 200, body: await text(socket) };
}

test("a request to an allowed host is passed on, with its method and body and the host it really goes to", async () => {
  await using server = await echoServer();
  const authority = `127.0.0.1:${server.port}`;
  await using proxy = await EgressProxy.open({ allow: [authority] });
  const { status, body } = await ask(proxy, `http://${authority}/a?b=c`, { method: "POST", body: "hello" });
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({ method: "POST", url: "/a?b=c", host: authority, proxy: null, body: "hello" });
});

test("a tunnel to an allowed host carries whatever is sent", async () => {
  await using server = await echoServer();
  await using proxy = await EgressProxy.open({ allow: [`localhost:${server.port}`] });
  const { status, body } = await tunnel(proxy, `LOCALHOST:${server.port}`);
  expect([status, body.includes('"url":"/tunnelled"')]).toEqual([200, true]);
});

verifies(hazard(50), "every other host, and every other port of an allowed one, is refused", async () => {
  await using server = await echoServer();
  await using proxy = await EgressProxy.open({ allow: [`127.0.0.1:${server.port}`], lookup: resolvingTo("127.0.0.1") });
  const others = [
    `localhost:${server.port}`,
    `127.0.0.2:${server.port}`,
    "127.0.0.1:1",
    `evil.test:${server.port}`,
    `127.0.0.1:${server.port}@evil.test:80`,
    "",
    "evil",
    ":",
    "[::1",
  ];
  for (const authority of others) {
    expect([authority, (await tunnel(proxy, authority)).status]).toEqual([authority, 403]);
    expect([authority, (await ask(proxy, `http://${authority}/`)).status]).toEqual([authority, 403]);
  }
});

verifies(hazard(50), "a request that is not for an absolute http URL is refused", async () => {
  await using server = await echoServer();
  await using proxy = await EgressProxy.open({ allow: [`127.0.0.1:${server.port}`, "127.0.0.1:443"] });
  for (const url of ["/", "*", `ftp://127.0.0.1:${server.port}/`, "file:///etc/passwd", "https://127.0.0.1/"]) {
    expect([url, (await ask(proxy, url)).status]).toEqual([url, 403]);
  }
});

const NEVER = [
  "0.0.0.0",
  "169.254.169.254",
  "169.254.0.1",
  "100.100.100.200",
  "168.63.129.16",
  "224.0.0.1",
  "255.255.255.255",
  "240.0.0.1",
  "192.0.0.192",
  "127.0.0.1",
  "127.9.9.9",
  "::",
  "::1",
  "fe80::1",
  "ff02::1",
  "fd00:ec2::254",
  "::ffff:169.254.169.254",
  "::ffff:127.0.0.1",
  "64:ff9b::a9fe:a9fe",
  "2002:a9fe:a9fe::1",
];

for (const address of NEVER) {
  verifies(hazard(13), `an allowed name that resolves to ${address} is not connected to`, async () => {
    await using proxy = await EgressProxy.open({ allow: ["git.example.com:80"], lookup: resolvingTo(address) });
    expect((await tunnel(proxy, "git.example.com:80")).status).toBe(502);
    expect((await ask(proxy, "http://git.example.com/")).status).toBe(502);
  });
}

verifies(hazard(13), "of several addresses only those that may be reached are tried", async () => {
  await using server = await echoServer();
  const addresses = ["169.254.169.254", "127.0.0.1"].map((address) => ({ address, family: 4 }));
  await using proxy = await EgressProxy.open({
    allow: [`localhost:${server.port}`],
    lookup: () => Promise.resolve(addresses),
  });
  expect((await tunnel(proxy, `localhost:${server.port}`)).status).toBe(200);
});

verifies(
  hazard(13),
  "a name is resolved once for each connection, and what was checked is what is connected to",
  async () => {
    await using server = await echoServer();
    const answers = ["127.0.0.1", "169.254.169.254"];
    const lookup = () => Promise.resolve([{ address: answers.shift() ?? "169.254.169.254", family: 4 }]);
    await using proxy = await EgressProxy.open({ allow: [`localhost:${server.port}`], lookup });
    expect((await tunnel(proxy, `localhost:${server.port}`)).status).toBe(200);
    expect((await tunnel(proxy, `localhost:${server.port}`)).status).toBe(502);
    expect(answers).toEqual([]);
  },
);

test("a host that does not answer, or whose name does not resolve, is a bad gateway", async () => {
  const closed = createTcpServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((done) => closed.close(done));
  const lookup = () => Promise.reject(new Error("ENOTFOUND"));
  await using proxy = await EgressProxy.open({ allow: [`127.0.0.1:${port}`] });
  await using lost = await EgressProxy.open({ allow: ["lost.example.com:443"], lookup });
  expect((await tunnel(proxy, `127.0.0.1:${port}`)).status).toBe(502);
  expect((await tunnel(lost, "lost.example.com:443")).status).toBe(502);
});

test("closing cuts open tunnels and leaves no socket behind", async () => {
  const silent = createTcpServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const authority = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const proxy = await EgressProxy.open({ allow: [authority] });
  const outgoing = request({ socketPath: proxy.socketPath, method: "CONNECT", path: authority }).end();
  const [, socket] = await once(outgoing, "connect");
  await Promise.all([proxy.close(), once(socket.resume(), "close")]);
  silent.close();
  await expect(access(proxy.socketPath)).rejects.toThrow("ENOENT");
});
