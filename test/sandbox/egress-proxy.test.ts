import { once } from "node:events";
import { access } from "node:fs/promises";
import { createServer, request } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { EgressProxy, type EgressOptions } from "../../server/sandbox/egress-proxy.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

/** An HTTP server on the loopback interface that responds with the request. */
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

/** Resolves every name to the given address. */
function resolvingTo(address: string): EgressOptions["lookup"] {
  return () => Promise.resolve([{ address, family: address.includes(":") ? 6 : 4 }]);
}

interface ProxyResponse {
  status: number;
  body: string;
}

/** Sends a request in absolute form, as programs do for `http:` URLs. */
async function sendRequest(
  proxy: EgressProxy,
  url: string,
  { method = "GET", body = "" } = {},
): Promise<ProxyResponse> {
  const headers = { host: "spoofed.test", "proxy-connection": "keep-alive" };
  const outgoing = request({ socketPath: proxy.socketPath, method, path: url, headers }).end(body);
  const [response] = await once(outgoing, "response");
  return { status: response.statusCode, body: await text(response) };
}

/** Opens a tunnel, as programs do for `https:` URLs, and sends one request through it. */
async function sendThroughTunnel(proxy: EgressProxy, authority: string): Promise<ProxyResponse> {
  const outgoing = request({ socketPath: proxy.socketPath, method: "CONNECT", path: authority }).end();
  const [response, socket] = await once(outgoing, "connect");
  if (response.statusCode !== 200) return { status: response.statusCode, body: "" };
  socket.end("GET /tunnelled HTTP/1.1\r\nHost: inside\r\nConnection: close\r\n\r\n");
  return { status: 200, body: await text(socket) };
}

test("a request to an allowed host is forwarded with its method, its body and the actual host", async () => {
  await using server = await echoServer();
  const authority = `127.0.0.1:${server.port}`;
  await using proxy = await EgressProxy.open({ allow: [authority] });
  const { status, body } = await sendRequest(proxy, `http://${authority}/a?b=c`, { method: "POST", body: "hello" });
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({ method: "POST", url: "/a?b=c", host: authority, proxy: null, body: "hello" });
});

test("a tunnel to an allowed host carries all data", async () => {
  await using server = await echoServer();
  await using proxy = await EgressProxy.open({ allow: [`localhost:${server.port}`] });
  const { status, body } = await sendThroughTunnel(proxy, `LOCALHOST:${server.port}`);
  expect([status, body.includes('"url":"/tunnelled"')]).toEqual([200, true]);
});

verifies(hazard(50), "requests to other hosts, and to other ports of an allowed host, get status 403", async () => {
  await using server = await echoServer();
  await using proxy = await EgressProxy.open({ allow: [`127.0.0.1:${server.port}`], lookup: resolvingTo("127.0.0.1") });
  const authorities = [
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
  for (const authority of authorities) {
    expect([authority, (await sendThroughTunnel(proxy, authority)).status]).toEqual([authority, 403]);
    expect([authority, (await sendRequest(proxy, `http://${authority}/`)).status]).toEqual([authority, 403]);
  }
});

verifies(hazard(50), "a request without an absolute http URL gets status 403", async () => {
  await using server = await echoServer();
  await using proxy = await EgressProxy.open({ allow: [`127.0.0.1:${server.port}`, "127.0.0.1:443"] });
  for (const url of ["/", "*", `ftp://127.0.0.1:${server.port}/`, "file:///etc/passwd", "https://127.0.0.1/"]) {
    expect([url, (await sendRequest(proxy, url)).status]).toEqual([url, 403]);
  }
});

const FORBIDDEN_ADDRESSES = [
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

for (const address of FORBIDDEN_ADDRESSES) {
  verifies(hazard(13), `the proxy does not connect to an allowed name that resolves to ${address}`, async () => {
    await using proxy = await EgressProxy.open({ allow: ["git.example.com:80"], lookup: resolvingTo(address) });
    expect((await sendThroughTunnel(proxy, "git.example.com:80")).status).toBe(502);
    expect((await sendRequest(proxy, "http://git.example.com/")).status).toBe(502);
  });
}

verifies(hazard(13), "if a name has several addresses, the proxy tries only the allowed ones", async () => {
  await using server = await echoServer();
  const addresses = ["169.254.169.254", "127.0.0.1"].map((address) => ({ address, family: 4 }));
  await using proxy = await EgressProxy.open({
    allow: [`localhost:${server.port}`],
    lookup: () => Promise.resolve(addresses),
  });
  expect((await sendThroughTunnel(proxy, `localhost:${server.port}`)).status).toBe(200);
});

verifies(
  hazard(13),
  "a name is resolved once for each connection, and the proxy connects to the address that it checked",
  async () => {
    await using server = await echoServer();
    const addresses = ["127.0.0.1", "169.254.169.254"];
    const lookup = () => Promise.resolve([{ address: addresses.shift() ?? "169.254.169.254", family: 4 }]);
    await using proxy = await EgressProxy.open({ allow: [`localhost:${server.port}`], lookup });
    expect((await sendThroughTunnel(proxy, `localhost:${server.port}`)).status).toBe(200);
    expect((await sendThroughTunnel(proxy, `localhost:${server.port}`)).status).toBe(502);
    expect(addresses).toEqual([]);
  },
);

test("502 is the response for a host that refuses connections or whose name does not resolve", async () => {
  const closed = createTcpServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((done) => closed.close(done));
  const lookup = () => Promise.reject(new Error("ENOTFOUND"));
  await using proxy = await EgressProxy.open({ allow: [`127.0.0.1:${port}`] });
  await using unresolvable = await EgressProxy.open({ allow: ["unknown.example.com:443"], lookup });
  expect((await sendThroughTunnel(proxy, `127.0.0.1:${port}`)).status).toBe(502);
  expect((await sendThroughTunnel(unresolvable, "unknown.example.com:443")).status).toBe(502);
});

test("closing the proxy closes open tunnels and removes its socket", async () => {
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

verifies(hazard(50), "a client that leaves before the proxy has connected leaves no connection behind", async () => {
  const sockets = new Set<Socket>();
  const silent = createTcpServer((socket) => {
    sockets.add(socket.resume());
    socket.on("close", () => sockets.delete(socket));
  }).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const authority = `localhost:${(silent.address() as AddressInfo).port}`;
  const [resolving, requested] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lookup = async () => {
    resolving.resolve();
    // As long as a name server may need: the proxy notices meanwhile that the client has left.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return [{ address: "127.0.0.1", family: 4 }];
  };
  await using proxy = await EgressProxy.open({ allow: [authority], lookup, onRequest: () => requested.resolve() });
  const outgoing = request({ socketPath: proxy.socketPath, path: `http://${authority}/` }).end();
  outgoing.on("error", () => undefined);
  await resolving.promise;
  outgoing.destroy();
  await requested.promise;
  // A connection that stays open has arrived by now.
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(sockets.size).toBe(0);
  silent.close();
});

verifies(hazard(50), "clients that leave at once do not make the proxy resolve any number of names", async () => {
  let lookups = 0;
  const unresolved = Promise.withResolvers<never>();
  const lookup = () => {
    lookups += 1;
    return unresolved.promise;
  };
  await using proxy = await EgressProxy.open({ allow: ["slow.example.com:80"], lookup });
  const send = () => request({ socketPath: proxy.socketPath, path: "http://slow.example.com/", agent: false }).end();
  for (let round = 1; round <= 3; round++) {
    const requests = Array.from({ length: 100 }, () => send().on("error", () => undefined));
    await waitFor(() => expect(lookups).toBeGreaterThanOrEqual(Math.min(round * 100, 256)));
    for (const outgoing of requests) outgoing.destroy();
  }
  const refused = send();
  const [response] = await once(refused, "response");
  expect([response.statusCode, lookups]).toEqual([502, 256]);
  unresolved.reject(new Error("ENOTFOUND"));
});

verifies(hazard(13), "the public port is allowed for hosts with public addresses only", async () => {
  await using server = await echoServer();
  const { port } = server;
  const proxy = (address: string, allow: readonly string[] = []) =>
    EgressProxy.open({ allow, publicPort: port, lookup: resolvingTo(address) });
  for (const address of ["127.0.0.1", "10.0.0.5", "169.254.169.254", "::1"]) {
    await using local = await proxy(address);
    expect((await sendThroughTunnel(local, `files.example.com:${port}`)).status).toBe(502);
    expect((await sendThroughTunnel(local, `files.example.com:${port + 1}`)).status).toBe(403);
  }
  await using listed = await proxy("127.0.0.1", [`localhost:${port}`]);
  expect((await sendThroughTunnel(listed, `localhost:${port}`)).status).toBe(200);
});
