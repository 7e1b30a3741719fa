import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { expect, test } from "vitest";
import type { VariableSet } from "../../../domain/ports/app-variables.ts";
import { eventually, openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";
import { TestVariables } from "../../support/edge/test-variables.ts";
import { webSocketApp } from "../../support/edge/web-socket-app.ts";

/** `/` responds at once. Any other path starts a response that never ends. */
const STREAMS = `export default { fetch(request) {
  if (new URL(request.url).pathname === "/") return new Response("ok");
  const pull = () => new Promise((done) => setTimeout(done, 60_000));
  return new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(1)), pull }));
} }`;

/** The endless responses would delay the end of each test. */
const FAST_CLOSE = { closeGraceMs: 0, drainMs: 0 };

interface OpenedResponse {
  status: number | undefined;
  retryAfter: string | undefined;
  close(): void;
}

/** Sends a request over a new connection from `localAddress`, and returns when the response has begun. */
async function open(t: TestPlatform, slug: string, path: string, localAddress = "127.0.0.1"): Promise<OpenedResponse> {
  const headers = { host: `${slug}.localhost` };
  const request = http.get({ host: "127.0.0.1", port: t.platform.port, path, headers, localAddress, agent: false });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  response.on("error", () => undefined);
  return {
    status: response.statusCode,
    retryAfter: response.headers["retry-after"],
    close: () => request.destroy(),
  };
}

test("256 open streams from one address leave the app reachable from other addresses", async () => {
  await using t = await openTestPlatform({ limits: FAST_CLOSE });
  await t.publish("shop", STREAMS);
  const streams = await Promise.all(Array.from({ length: 256 }, () => open(t, "shop", "/stream")));
  expect([200, 503].map((status) => streams.filter((stream) => stream.status === status).length)).toEqual([128, 128]);
  expect((await open(t, "shop", "/", "127.0.0.2")).status).toBe(200);
});

test("more than 256 open streams from several addresses leave the app and other apps reachable", async () => {
  await using t = await openTestPlatform({ limits: FAST_CLOSE });
  await t.publish("shop", STREAMS);
  await t.publish("other", STREAMS);
  const addresses = Array.from({ length: 300 }, (_, at) => `127.0.0.${(at % 3) + 2}`);
  const streams = await Promise.all(addresses.map((address) => open(t, "shop", "/stream", address)));
  expect(streams.filter(({ status }) => status !== 200)).toEqual([]);
  for (const slug of ["shop", "other"]) expect((await open(t, slug, "/")).status).toBe(200);
});

test("503 with Retry-After is the response beyond the limit of an address, until one of its streams ends", async () => {
  await using t = await openTestPlatform({ limits: { ...FAST_CLOSE, requestsPerClient: 2 } });
  await t.publish("shop", STREAMS);
  const streams = [await open(t, "shop", "/stream"), await open(t, "shop", "/stream")];
  expect(await open(t, "shop", "/")).toMatchObject({ status: 503, retryAfter: "1" });
  streams[0]!.close();
  await eventually(async () => ((await open(t, "shop", "/")).status === 200 ? true : undefined));
});

test("open streams to one app do not affect another app", async () => {
  await using t = await openTestPlatform({ limits: { ...FAST_CLOSE, requestsPerApp: 4, requestsPerClient: 3 } });
  await t.publish("shop", STREAMS);
  await t.publish("other", STREAMS);
  const addresses = ["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2"];
  await Promise.all(addresses.map((address) => open(t, "shop", "/stream", address)));
  expect(await open(t, "shop", "/", "127.0.0.3")).toMatchObject({ status: 503, retryAfter: "1" });
  expect((await open(t, "other", "/")).status).toBe(200);
});

/** Variables whose read, and with it the start of the app, waits for `untilReadable`. */
class BlockedVariables extends TestVariables {
  readonly untilReadable = new Map<string, Promise<void>>();

  override async read(appId: string): Promise<VariableSet> {
    await this.untilReadable.get(appId);
    return await super.read(appId);
  }
}

test("requests that wait for the start of an app are limited", async () => {
  const variables = new BlockedVariables();
  await using t = await openTestPlatform({ limits: { ...FAST_CLOSE, idleMs: 0, requestsPerClient: 2 }, variables });
  for (const slug of ["shop", "other"]) {
    await t.publish(slug, STREAMS);
    await t.logged("idle app stopped", { slug });
  }
  const startable = Promise.withResolvers<void>();
  variables.untilReadable.set("app-shop", startable.promise);
  const statuses: (number | undefined)[] = [];
  const responses = Array.from({ length: 5 }, async () => {
    const { status } = await open(t, "shop", "/stream");
    statuses.push(status);
  });
  // The other app has to start too, which takes longer than a response to requests that do not wait.
  expect((await open(t, "other", "/")).status).toBe(200);
  const early = [...statuses];
  startable.resolve();
  await Promise.all(responses);
  expect([early, statuses.slice(early.length)]).toEqual([
    [503, 503, 503],
    [200, 200],
  ]);
});

const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
const KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/** Writes to a new connection, and returns it with the first line of the response. */
async function write(t: TestPlatform, bytes: string): Promise<{ socket: net.Socket; line: string | undefined }> {
  const socket = net.connect(t.platform.port, "127.0.0.1").setEncoding("latin1");
  socket.write(bytes);
  const [text] = (await once(socket, "data")) as [string];
  return { socket, line: text.split("\r\n")[0] };
}

test("open WebSockets count towards the limits", async () => {
  await using t = await openTestPlatform({ limits: { ...FAST_CLOSE, requestsPerClient: 1 } });
  await t.publish("shop", webSocketApp());
  const upgrade = `GET / HTTP/1.1\r\nHost: shop.localhost\r\n${UPGRADE}${KEY}\r\n`;
  const first = await write(t, upgrade);
  const second = await write(t, upgrade);
  expect([first.line, second.line]).toEqual(["HTTP/1.1 101 Switching Protocols", "HTTP/1.1 503 Service Unavailable"]);
  first.socket.destroy();
  await eventually(async () => ((await write(t, upgrade)).line?.includes("101") === true ? true : undefined));
});

test("pipelined requests do not count after their connection has closed", async () => {
  await using t = await openTestPlatform({ limits: { ...FAST_CLOSE, requestsPerClient: 3 } });
  await t.publish("shop", STREAMS);
  const requests = ["/stream", "/", "/stream"].map((path) => `GET ${path} HTTP/1.1\r\nHost: shop.localhost\r\n\r\n`);
  const { socket } = await write(t, requests.join(""));
  expect((await open(t, "shop", "/")).status).toBe(503);
  socket.destroy();
  await eventually(async () => {
    const streams = await Promise.all(["/stream", "/stream", "/stream"].map((path) => open(t, "shop", path)));
    if (streams.every(({ status }) => status === 200)) return true;
    for (const stream of streams) stream.close();
    return undefined;
  });
});
