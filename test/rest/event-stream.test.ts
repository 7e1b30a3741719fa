import { once } from "node:events";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import type { StreamChunk, EventReader } from "../../domain/shared/stream-events.ts";
import { EventStream } from "../../server/rest/streams/event-stream.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** A log that always has a further line of 1,000 characters. */
function endlessLog() {
  const log = { reads: 0, isClosed: false };
  const source: EventReader = {
    async next(): Promise<StreamChunk> {
      log.reads += 1;
      return [{ id: String(log.reads), type: "line", data: "x".repeat(1000) }];
    },
    close: () => void (log.isClosed = true),
  };
  return { log, stream: new EventStream(source) };
}

/** A log without lines, and the signals of the reads that are waiting for one. */
function silentLog() {
  const log = { waiting: [] as AbortSignal[], isClosed: false };
  const next = (signal: AbortSignal) => {
    log.waiting.push(signal);
    return new Promise<StreamChunk>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  };
  return { log, stream: new EventStream({ next, close: () => void (log.isClosed = true) }) };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

verifies(
  hazard(56),
  "a client that reads nothing costs bounded memory, and its stream is closed after a while",
  async () => {
    const { log, stream } = endlessLog();
    stream.read(0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(log.reads).toBeLessThan(30);
    expect(stream.readableLength).toBeLessThan(20_000);
    const closed = once(stream, "close");
    for (let interval = 0; interval < 6; interval++) stream.keepAlive();
    await closed;
    expect(log.isClosed).toBe(true);
  },
);

test("a client that pauses for a while again and again stays connected", async () => {
  const { stream } = endlessLog();
  for (let pause = 0; pause < 3; pause++) {
    stream.read();
    await nextTurn();
    for (let interval = 0; interval < 4; interval++) stream.keepAlive();
    expect(stream.destroyed).toBe(false);
  }
  stream.keepAlive();
  expect(stream.destroyed).toBe(true);
});

test("a client that reads slowly gets every event, in order", async () => {
  const { stream } = endlessLog();
  let text = "";
  for await (const bytes of stream) {
    text += String(bytes);
    stream.keepAlive();
    if (text.length > 200_000) break;
  }
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual(Array.from(ids, (_, at) => at + 1));
});

test("a silent stream gets a comment at each interval, and ends when the service stops", async () => {
  const { log, stream } = silentLog();
  let text = "";
  stream.on("data", (bytes) => (text += String(bytes)));
  await nextTurn();
  for (let interval = 0; interval < 10; interval++) {
    stream.keepAlive();
    await nextTurn();
  }
  // One read waits for the next line, however many comments are sent meanwhile.
  expect(log.waiting).toHaveLength(1);
  const ended = once(stream, "end");
  stream.end();
  await ended;
  expect(text).toBe(": keep-alive\n\n".repeat(11));
});

/** A log with one event, after which it ends. */
function endedLog(): EventStream {
  return new EventStream({ next: async () => [{ id: "end", type: "end", data: "{}" }], close: () => undefined });
}

verifies(
  hazard(56),
  "a client that does not read the end of a stream gets it later, or its stream is closed",
  async () => {
    for (const isGone of [false, true]) {
      const stream = endedLog();
      // It has room for the first comment, but not for the event after it.
      const client = new Writable({ highWaterMark: 20, write: () => undefined });
      stream.pipe(client);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const closed = once(stream, "close");
      const intervals = isGone ? 6 : 1;
      for (let interval = 0; interval < intervals; interval++) stream.keepAlive();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(stream.destroyed).toBe(isGone);
      client.emit("drain");
      await closed;
    }
  },
);

test("the log of a client that disconnects is not read any further", async () => {
  const { log, stream } = silentLog();
  stream.resume();
  await nextTurn();
  const closed = once(stream, "close");
  stream.destroy();
  await closed;
  expect([log.waiting.map(({ aborted }) => aborted), log.isClosed]).toEqual([[true], true]);
});

test("a stream whose log cannot be read ends with the error, so that its client continues later", async () => {
  const failed = new Error("the database is down");
  const stream = new EventStream({ next: () => Promise.reject(failed), close: () => undefined });
  stream.resume();
  expect(await once(stream, "error")).toEqual([failed]);
});

test("a line that is read while the service stops is left for the next stream of the client", async () => {
  const { promise, resolve } = Promise.withResolvers<StreamChunk>();
  const stream = new EventStream({ next: () => promise, close: () => undefined });
  stream.read(0);
  stream.end();
  resolve([{ id: "1", type: "line", data: "late" }]);
  await nextTurn();
  expect(stream.errored).toBeNull();
  expect(String(stream.read())).toBe(": keep-alive\n\n");
});
