import { expect, test } from "vitest";
import { EventTail } from "../../../domain/events/event-tail.ts";
import { WAIT_LIMIT_MS } from "../../support/time-limits.ts";

const event = (n: number) => ({ type: "app" as const, data: String(n) });
const signal = () => AbortSignal.timeout(WAIT_LIMIT_MS);
const reset = { id: null, type: "reset", data: "{}" };

function openReader(tail: EventTail) {
  return tail.openReader(() => undefined);
}

test("a reader begins with reset, and gets every event after it in order", async () => {
  const tail = new EventTail();
  tail.add(event(1));
  const reader = openReader(tail);
  expect(await reader.next(signal())).toEqual([reset]);
  const waiting = reader.next(signal());
  tail.add(event(2));
  tail.add(event(3));
  expect((await waiting).map(({ data }) => data)).toEqual(["2", "3"]);
  tail.reset();
  tail.add(event(4));
  expect((await reader.next(signal())).map(({ type, data }) => [type, data])).toEqual([
    ["reset", "{}"],
    ["app", "4"],
  ]);
});

test("readers at the same place get the same chunk", async () => {
  const tail = new EventTail();
  const readers = [openReader(tail), openReader(tail)];
  for (const reader of readers) await reader.next(signal());
  tail.add(event(1));
  const [first, second] = await Promise.all(readers.map((reader) => reader.next(signal())));
  expect(first).toEqual([{ id: null, type: "app", data: "1" }]);
  expect(second).toBe(first);
});

test("a reader that is too far behind gets reset instead of the events, and continues with the next one", async () => {
  const tail = new EventTail();
  const [slow, fast] = [openReader(tail), openReader(tail)];
  await slow.next(signal());
  await fast.next(signal());
  tail.add(event(0));
  expect(await fast.next(signal())).toHaveLength(1);
  for (let n = 1; n <= 500; n++) tail.add(event(n));
  expect(await fast.next(signal())).toHaveLength(500);
  expect(await slow.next(signal())).toEqual([reset]);
  tail.add(event(501));
  expect((await slow.next(signal())).map(({ data }) => data)).toEqual(["501"]);
});

test("a reader that is closed while it waits gets the reason of its signal", async () => {
  const reader = openReader(new EventTail());
  await reader.next(signal());
  const closing = new AbortController();
  const waiting = reader.next(closing.signal);
  closing.abort(new Error("closed"));
  await expect(waiting).rejects.toThrow("closed");
});
