import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { fastify } from "fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StreamedBodies } from "../../server/rest/streamed-bodies.ts";

const LIMIT = 100;
const LARGE = 10_000_000;
const INCOMPLETE = { status: 400, message: "The request body did not arrive completely. Send the request again." };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A request whose body arrives when the test says so. */
function openRequest(headers: Record<string, string> = {}, limit = LIMIT) {
  const server = fastify();
  const connections = new WeakSet<Socket>();
  const bodies = new StreamedBodies(server, connections);
  const request = Object.assign(new Readable({ read() {} }), { headers, socket: {} as Socket });
  const received: number[] = [];
  const read = async (): Promise<void> => {
    for await (const chunk of bodies.read(request as unknown as IncomingMessage, limit)) received.push(chunk.length);
  };
  return { server, request, received, read, isStreamed: () => connections.has(request.socket) };
}

/** The error with which a promise is rejected; `null` for one that is fulfilled. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

test("a body with a larger declared size than the limit is rejected before it is read", async () => {
  const { request, read } = openRequest({ "content-length": "101" });
  await expect(read()).rejects.toMatchObject({ status: 413 });
  expect(request.destroyed).toBe(false);
});

test("a body of exactly the limit is read, and its connection is known only meanwhile", async () => {
  const { request, read, received, isStreamed } = openRequest({ "content-length": "100" });
  const reading = read();
  request.push(Buffer.alloc(100));
  await vi.advanceTimersByTimeAsync(1);
  expect(isStreamed()).toBe(true);
  request.push(null);
  await reading;
  expect([received, isStreamed(), vi.getTimerCount()]).toEqual([[100], false, 0]);
});

test("a body that turns out to be too large is rejected, and the request can still get a response", async () => {
  const { request, read, isStreamed } = openRequest();
  request.push(Buffer.alloc(101));
  await expect(read()).rejects.toMatchObject({ status: 413 });
  expect([request.destroyed, isStreamed()]).toEqual([false, false]);
});

test("a body that pauses for half a minute is incomplete", async () => {
  const { request, read, received } = openRequest({}, LARGE);
  const failure = failureOf(read());
  await vi.advanceTimersByTimeAsync(29_999);
  request.push(Buffer.alloc(250_000));
  await vi.advanceTimersByTimeAsync(29_999);
  request.push(Buffer.alloc(2));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await failure).toMatchObject(INCOMPLETE);
  expect([received, request.destroyed]).toEqual([[250_000, 2], false]);
});

test("a body that takes more than ten minutes is incomplete, although it never pauses", async () => {
  const { request, read, received } = openRequest({}, LARGE);
  const failure = failureOf(read());
  for (let second = 0; second < 600; second += 25) {
    request.push(Buffer.alloc(110_000));
    await vi.advanceTimersByTimeAsync(25_000);
  }
  expect(await failure).toMatchObject(INCOMPLETE);
  expect(received).toHaveLength(24);
});

test("a body of less than 4 KiB per second is incomplete after half a minute, although it never pauses", async () => {
  const { request, read, received } = openRequest({}, LARGE);
  const failure = failureOf(read());
  for (let second = 0; second < 40; second += 5) {
    request.push(Buffer.alloc(16_000));
    await vi.advanceTimersByTimeAsync(5000);
  }
  expect(await failure).toMatchObject(INCOMPLETE);
  expect(received).toHaveLength(7);
});

test("a body whose connection breaks is incomplete, with the reason", async () => {
  const { request, read } = openRequest();
  const failure = failureOf(read());
  await vi.advanceTimersByTimeAsync(1);
  request.destroy(new Error("reset"));
  expect(await failure).toMatchObject({ ...INCOMPLETE, cause: new Error("reset") });
});

test("a service that stops ends the bodies that arrive, and reads no further ones", async () => {
  const { server, read, request } = openRequest();
  const failure = failureOf(read());
  request.push(Buffer.alloc(1));
  await vi.advanceTimersByTimeAsync(1);
  await server.close();
  expect(await failure).toMatchObject({ code: "unavailable" });
  await expect(read()).rejects.toMatchObject({ code: "unavailable" });
});
