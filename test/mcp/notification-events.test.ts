import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { NotificationStreams, wantsNotificationStream } from "../../server/mcp/notification-streams.ts";
import { SubscriptionBus } from "../../server/mcp/subscription-bus.ts";

const CHANGED = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n';
const COMMENT = ": keep-alive\n\n";

type Listener = Parameters<SubscriptionBus["subscribe"]>[0];
const EVENT = { kind: "tools_list_changed" } as const;

test("a stream begins with a comment, and that of a client without a revision with the path of the HTTP+SSE transport", async () => {
  const streams = new NotificationStreams();
  const [current, earlier] = [streams.open("one", "2025-11-25")!, streams.open("one")!];
  streams.close();
  expect(await text(current)).toBe(COMMENT);
  expect(await text(earlier)).toBe("event: endpoint\ndata: /mcp/messages\n\n");
});

test("a change of tools reaches the streams of its organization, and a gap those of all organizations", async () => {
  const streams = new NotificationStreams();
  const [one, same, other] = ["one", "one", "two"].map((orgId) => streams.open(orgId, "2025-11-25")!);
  streams.notifyToolsChanged("one");
  streams.notifyToolsChanged("three");
  streams.notifyAll();
  streams.close();
  const received = await Promise.all([one, same, other].map((stream) => text(stream as Readable)));
  expect(received).toEqual([COMMENT + CHANGED + CHANGED, COMMENT + CHANGED + CHANGED, COMMENT + CHANGED]);
});

test("a closed stream gets no notifications, and the others of its organization still do", async () => {
  const streams = new NotificationStreams();
  const [closed, open] = [streams.open("one", "2025-11-25")!, streams.open("one", "2025-11-25")!];
  closed.destroy();
  await once(closed, "close");
  const push = vi.spyOn(closed, "push");
  streams.notifyToolsChanged("one");
  streams.notifyAll();
  streams.close();
  expect(push).not.toHaveBeenCalled();
  expect(await text(open)).toBe(COMMENT + CHANGED + CHANGED);
});

test("an organization whose streams have all closed can open one again", async () => {
  const streams = new NotificationStreams();
  const first = streams.open("one", "2025-11-25")!;
  first.destroy();
  await once(first, "close");
  const second = streams.open("one", "2025-11-25")!;
  streams.notifyToolsChanged("one");
  streams.close();
  expect(await text(second)).toBe(COMMENT + CHANGED);
});

test("no stream opens after the service has started to stop", () => {
  const streams = new NotificationStreams();
  streams.close();
  expect(streams.open("one")).toBeNull();
});

test("a stream gets a comment every 25 seconds, until the service stops", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const streams = new NotificationStreams();
  const stream = streams.open("one", "2025-11-25")!;
  vi.advanceTimersByTime(25_000);
  vi.advanceTimersByTime(24_999);
  streams.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(await text(stream)).toBe(COMMENT + COMMENT);
});

test("a stream that nothing reads buffers notifications until it has 4,096 bytes", () => {
  const streams = new NotificationStreams();
  const stream = streams.open("one", "2025-11-25")!;
  for (let count = 0; count < 1000; count++) streams.notifyToolsChanged("one");
  expect(stream.readableLength).toBeGreaterThanOrEqual(4096);
  expect(stream.readableLength).toBeLessThan(4096 + CHANGED.length);
  streams.close();
});

test.each([
  [{ accept: "text/event-stream" }, true],
  [{ accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" }, true],
  [{ accept: "text/event-stream", "mcp-protocol-version": "2026-07-28" }, false],
  [{ accept: "text/event-stream", "mcp-protocol-version": "unknown" }, false],
  [{ accept: "application/json" }, false],
  [{}, false],
])("a GET with the headers %o asks for notifications: %s", (headers, expected) => {
  expect(wantsNotificationStream(headers)).toBe(expected);
});

test("an event reaches the subscriptions of its organization until they end, and an event for all reaches every one", () => {
  const bus = new SubscriptionBus();
  const [one, same, other] = [vi.fn<Listener>(), vi.fn<Listener>(), vi.fn<Listener>()];
  const end = bus.run("one", () => bus.subscribe(one));
  bus.run("one", () => bus.subscribe(same));
  bus.run("two", () => bus.subscribe(other));
  bus.publishTo("one", EVENT);
  bus.publishTo("three", EVENT);
  expect([one, same, other].map(({ mock }) => mock.calls)).toEqual([[[EVENT]], [[EVENT]], []]);
  end();
  bus.publishTo("one", EVENT);
  bus.publishToAll(EVENT);
  expect([one, same, other].map(({ mock }) => mock.calls.length)).toEqual([1, 3, 1]);
});

test("the last subscription of an organization can end, and the next one gets events", () => {
  const bus = new SubscriptionBus();
  const [first, second] = [vi.fn<Listener>(), vi.fn<Listener>()];
  bus.run("one", () => bus.subscribe(first))();
  bus.run("one", () => bus.subscribe(second));
  bus.publishTo("one", EVENT);
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 1]);
});

test("a subscription outside a request, and an event without an organization, are errors", () => {
  const bus = new SubscriptionBus();
  expect(() => bus.subscribe(() => {})).toThrow("outside a request");
  expect(() => bus.publish()).toThrow("without an organization");
});
