import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { eventually } from "../support/edge/test-platform.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { SERVICES } from "../support/service/test-databases.ts";
import { verifies } from "../support/verifies.ts";

const LOST = "Redis does not respond: each process counts its own limits until it does";
const RESTORED = "Redis responds again: the processes share their limits";

/** A TCP server that a test can stop and start again on the same port. */
async function startServer(onConnection: (socket: Socket) => void, port = 0) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined).once("close", () => sockets.delete(socket)));
    onConnection(socket);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

const redisAt = (port: number) => ({ config: { redisUrl: `redis://:hunter2-hunter2@127.0.0.1:${port}` } });

function countLogged(harness: Harness, message: string): number {
  return harness.logged().split(JSON.stringify(message)).length - 1;
}

/** Calls that count against a limit of each kind. Returns their statuses. */
async function callEverything(harness: Harness): Promise<number[]> {
  const { rest, personal_access_token: token } = await harness.tenant();
  const { publicUrl } = harness.service;
  const gateway = new GatewayClient(publicUrl, token);
  const user = new TestUser(publicUrl);
  await user.signUp();
  const signIn = await user.post("/sign-in/email", { email: user.email, password: user.password });
  const list = await gateway.call("tools/list");
  const apps = await gateway.call("tools/call", { name: "service_list_apps", arguments: {} });
  const deploys = [];
  for (let n = 0; n < 6; n++) deploys.push((await rest.deploy({ repo: "acme/site" })).status);
  return [(await rest.get("/v1/apps")).status, signIn.status, list.status, apps.status, ...deploys];
}

const WORKING = [200, 200, 200, 200, 201, 201, 201, 201, 201, 429];

verifies(
  ["rest.list.200", "limits.deploy.rate"],
  "while Redis accepts connections and does not respond, everything works and each process counts its own limits",
  async () => {
    await using silent = await startServer(() => undefined);
    await using harness = await createHarness(redisAt(silent.port));
    expect(await callEverything(harness)).toEqual(WORKING);
    expect((await fetch(`${harness.service.publicUrl}/readyz`)).status).toBe(200);
    expect(countLogged(harness, LOST)).toBe(1);
  },
);

test("while Redis refuses connections, everything works and each process counts its own limits", async () => {
  const closed = await startServer(() => undefined);
  await closed[Symbol.asyncDispose]();
  await using harness = await createHarness(redisAt(closed.port));
  expect(await callEverything(harness)).toEqual(WORKING);
  expect(countLogged(harness, LOST)).toBe(1);
});

/** The beginning of a command in the protocol of Redis. */
const COMMAND = /\*\d+\r\n\$/g;

/** Answers every command at once, except for counts. */
function startSlowRedis(reply: (socket: Socket) => void) {
  return startServer((socket) =>
    socket.setEncoding("latin1").on("data", (commands: string) => {
      if (/\r\neval\r\n/i.test(commands)) reply(socket);
      else for (const _ of commands.matchAll(COMMAND)) socket.write("+OK\r\n");
    }),
  );
}

test("no call waits for a Redis that responds to other commands and takes seconds to count", async () => {
  const SECONDS = 4;
  let counts = 0;
  let replies = 0;
  await using slow = await startSlowRedis((socket) => {
    counts++;
    setTimeout(() => {
      replies++;
      socket.write("*3\r\n:1\r\n:1\r\n:60\r\n");
    }, SECONDS * 1000).unref();
  });
  await using harness = await createHarness(redisAt(slow.port));
  const { rest } = await harness.tenant();
  expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
  expect([counts > 0, replies]).toEqual([true, 0]);
  expect(countLogged(harness, LOST)).toBe(1);
});

test("wrong passwords are limited while Redis does not respond", async () => {
  await using silent = await startServer(() => undefined);
  await using harness = await createHarness(redisAt(silent.port));
  const user = new TestUser(harness.service.publicUrl);
  await user.signUp();
  const statuses = [];
  for (let n = 0; n < 11; n++)
    statuses.push((await user.post("/sign-in/email", { email: user.email, password: "not the password" })).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
});

test("the password of a Redis that rejects it is not in the log", async () => {
  // Like Redis, it replies to each command. The client reports the error only then, with the command that has the password.
  await using rejecting = await startServer((socket) =>
    socket.setEncoding("latin1").on("data", (commands: string) => {
      for (const _ of commands.matchAll(COMMAND)) socket.write("-WRONGPASS invalid username-password pair\r\n");
    }),
  );
  await using harness = await createHarness(redisAt(rejecting.port));
  expect(await callEverything(harness)).toEqual(WORKING);
  expect([countLogged(harness, LOST), harness.logged().includes("hunter2")]).toEqual([1, false]);
  expect(harness.logged()).toContain("WRONGPASS");
});

/** Forwards connections to the Redis of this run. */
const startRelay = (redisUrl: string, port?: number) =>
  startServer((socket) => {
    const { hostname, port: redisPort } = new URL(redisUrl);
    const redis = connect(Number(redisPort || 6379), hostname).on("error", () => socket.destroy());
    socket.pipe(redis).pipe(socket);
    socket.once("close", () => redis.destroy());
  }, port);

/** The servers that can be lost and return: only a run on outside services has a Redis. */
const REDIS = SERVICES === null ? [] : [SERVICES.redisUrl];

test.each(REDIS)(
  "the log names an outage of Redis once and its end once, and limits are then shared again",
  async (redisUrl) => {
    const relay = await startRelay(redisUrl);
    const url = new URL(redisUrl);
    url.port = String(relay.port);
    url.searchParams.set("keyPrefix", `outage-${process.pid}:`);
    await using harness = await createHarness({ config: { redisUrl: url.href } });
    const { rest } = await harness.tenant();
    await rest.deploy({ repo: "acme/site" });
    expect([countLogged(harness, LOST), countLogged(harness, RESTORED)]).toEqual([0, 0]);
    await relay[Symbol.asyncDispose]();
    for (let n = 0; n < 3; n++) expect((await rest.deploy({ repo: "acme/site" })).status).toBe(201);
    await using _restored = await startRelay(redisUrl, relay.port);
    await eventually(() => (countLogged(harness, RESTORED) === 1 ? true : undefined));
    const statuses = [];
    for (let n = 0; n < 5; n++) statuses.push((await rest.deploy({ repo: "acme/site" })).status);
    expect(statuses).toEqual([201, 201, 201, 201, 429]);
    expect([countLogged(harness, LOST), countLogged(harness, RESTORED)]).toEqual([1, 1]);
  },
);
