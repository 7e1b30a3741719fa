import { once } from "node:events";
import { access } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { EgressForwarder, type EgressForwarderOptions } from "../../server/sandbox/egress-forwarder.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

/** A server on the loopback interface that stands for one of the internet. */
async function echoServer() {
  const server = createHttpServer((request, response) => response.end(`${request.method} ${request.url}`));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Resolves every name to these addresses. */
function resolvingTo(...addresses: string[]): NonNullable<EgressForwarderOptions["lookup"]> {
  return () => Promise.resolve(addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
}

const TO_LOOPBACK: EgressForwarderOptions = {
  lookup: resolvingTo("127.0.0.1"),
  isAllowedAddress: (address) => address === "127.0.0.1",
};

const openSocket = ({ folder }: EgressForwarder, name: string) => connect(path.join(folder, name));

/** Sends text to the forwarder, and returns its response. */
async function send(forwarder: EgressForwarder, request: unknown): Promise<unknown> {
  const socket = openSocket(forwarder, "control.sock");
  socket.write(typeof request === "string" ? request : `${JSON.stringify(request)}\n`);
  const response = await text(socket).catch((error: NodeJS.ErrnoException) => error.code ?? "");
  return response.startsWith("{") ? JSON.parse(response) : response;
}

const connectTo = (forwarder: EgressForwarder, host: string, port = 443) =>
  send(forwarder, { connect: { host, port } });

test("a connection gets a socket that is connected with the host, once", async () => {
  await using server = await echoServer();
  await using forwarder = await EgressForwarder.open(TO_LOOPBACK);
  const response = await connectTo(forwarder, "api.example.com", server.port);
  expect(response).toEqual({ path: "c1", address: "127.0.0.1", family: 4 });
  const socket = openSocket(forwarder, "c1");
  socket.end("GET /hello HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n\r\n");
  expect(await text(socket)).toContain("GET /hello");
  await expect
    .poll(() =>
      access(path.join(forwarder.folder, "c1")).then(
        () => "exists",
        () => "removed",
      ),
    )
    .toBe("removed");
  expect(await connectTo(forwarder, "api.example.com", server.port)).toMatchObject({ path: "c2" });
});

const FORBIDDEN_ADDRESSES = [
  ...["127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.5", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254"],
  ...["100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
  ...["::", "::1", "fe80::1", "fd00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"],
  ...["64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"],
];

verifies(hazard(13), "no server gets a connection to a private address, by a name or as it is", async () => {
  for (const address of FORBIDDEN_ADDRESSES) {
    await using named = await EgressForwarder.open({ lookup: resolvingTo(address) });
    await using literal = await EgressForwarder.open();
    expect([address, await connectTo(named, "internal.example.com")]).toEqual([address, { error: "ENOTFOUND" }]);
    expect([address, await connectTo(literal, address)]).toEqual([address, { error: "ENOTFOUND" }]);
  }
});

verifies(hazard(13), "other forms of a loopback address, and the names of this machine, are refused too", async () => {
  await using forwarder = await EgressForwarder.open();
  for (const host of [
    "localhost",
    "2130706433",
    "0x7f.1",
    "127.1",
    "0177.0.0.1",
    "[::1]",
    "127.0.0.1.",
    "ip6-localhost",
  ])
    expect([host, await connectTo(forwarder, host)]).toEqual([host, { error: expect.stringMatching(/^E[A-Z_]+$/) }]);
});

verifies(hazard(13), "a name is resolved once, and only its public addresses are used and told", async () => {
  await using server = await echoServer();
  const lookup = vi.fn<ReturnType<typeof resolvingTo>>(resolvingTo("10.0.0.1", "127.0.0.1", "fd00::1"));
  await using forwarder = await EgressForwarder.open({ ...TO_LOOPBACK, lookup });
  expect(await connectTo(forwarder, "both.example.com", server.port)).toMatchObject({ address: "127.0.0.1" });
  expect(lookup).toHaveBeenCalledTimes(1);
  expect(await send(forwarder, { lookup: { name: "both.example.com" } })).toEqual({
    addresses: [{ address: "127.0.0.1", family: 4 }],
  });
  const resolve = (type: string) => send(forwarder, { resolve: { name: "both.example.com", type } });
  expect([await resolve("A"), await resolve("AAAA")]).toEqual([{ records: ["127.0.0.1"] }, { error: "ENODATA" }]);
});

test("only ports of the web, of mail submission, and those of no system service are reachable", async () => {
  await using forwarder = await EgressForwarder.open({ lookup: resolvingTo(), isAllowedAddress: () => true });
  const responses = async (ports: number[]) =>
    Promise.all(ports.map((port) => connectTo(forwarder, "example.com", port)));
  const refused = await responses([1, 22, 23, 25, 53, 111, 445, 1023]);
  expect(refused).toEqual(refused.map(() => ({ error: "EACCES" })));
  const allowed = await responses([80, 443, 465, 587, 1024, 5432, 65_535]);
  expect(allowed).toEqual(allowed.map(() => ({ error: "ENOTFOUND" })));
});

test("rubbish gets an error, or the connection is closed", async () => {
  await using server = await echoServer();
  await using forwarder = await EgressForwarder.open(TO_LOOPBACK);
  const rubbish = [
    ...["\n", "{}\n", "null\n", "{\n", '{"connect":"example.com"}\n', "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"],
    ...[{ connect: { host: "", port: 443 } }, { connect: { host: "a".repeat(254), port: 443 } }],
    ...[0, -1, 65_536, 1.5, "443"].map((port) => ({ connect: { host: "example.com", port } })),
    { resolve: { name: "example.com", type: "ANY" } },
  ];
  for (const request of rubbish)
    expect([request, await send(forwarder, request)]).toEqual([request, { error: "EINVAL" }]);
  expect(await send(forwarder, "x".repeat(10_000))).not.toContain("x");
  expect(await connectTo(forwarder, "still.example.com", server.port)).toHaveProperty("path");
});

test("a host that refuses the connection, and one that does not exist, have the error of the system", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((done) => closed.close(done));
  await using forwarder = await EgressForwarder.open(TO_LOOPBACK);
  expect(await connectTo(forwarder, "example.com", port)).toEqual({ error: "ECONNREFUSED" });
  const lookup = () => Promise.reject(Object.assign(new Error("no such host"), { code: "ENOTFOUND" }));
  await using unknown = await EgressForwarder.open({ lookup });
  expect(await connectTo(unknown, "unknown.example.com")).toEqual({ error: "ENOTFOUND" });
});

verifies(
  hazard(50),
  "a server that leaves at once does not make the forwarder resolve any number of names",
  async () => {
    let lookups = 0;
    const unresolved = Promise.withResolvers<never>();
    const lookup = () => {
      lookups += 1;
      return unresolved.promise;
    };
    await using forwarder = await EgressForwarder.open({ lookup });
    for (let round = 1; round <= 4; round++) {
      const sockets = Array.from({ length: 100 }, () => openSocket(forwarder, "control.sock").on("error", () => {}));
      for (const socket of sockets) socket.write('{"lookup":{"name":"slow.example.com"}}\n');
      await waitFor(() => expect(lookups).toBeGreaterThanOrEqual(Math.min(round * 100, 256)));
      for (const socket of sockets) socket.destroy();
    }
    expect(await send(forwarder, { lookup: { name: "slow.example.com" } })).toEqual({ error: "EMFILE" });
    expect(lookups).toBe(256);
    unresolved.reject(new Error("ENOTFOUND"));
  },
);

test("closing the forwarder closes its connections and removes its folder", async () => {
  await using silent = new AsyncDisposableStack();
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => accepted.resolve(socket.on("error", () => {})));
  silent.defer(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const forwarder = await EgressForwarder.open(TO_LOOPBACK);
  await connectTo(forwarder, "example.com", (server.address() as AddressInfo).port);
  const inside = openSocket(forwarder, "c1").on("error", () => {});
  const outside = await accepted.promise;
  await once(inside, "connect");
  await Promise.all([once(inside, "close"), once(outside.resume(), "close"), forwarder[Symbol.asyncDispose]()]);
  await expect(access(forwarder.folder)).rejects.toThrow("ENOENT");
});
