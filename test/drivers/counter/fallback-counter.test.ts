import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Quota } from "../../../domain/ports/counter.ts";
import { FallbackCounter } from "../../../server/drivers/counter/fallback-counter.ts";
import { MemoryCounter } from "../../../server/drivers/counter/memory-counter.ts";

/** A shared counter whose server can be out of reach, and the events that the fallback reports. */
function setUp() {
  const server = new MemoryCounter();
  const events: string[] = [];
  const restored = Promise.withResolvers<void>();
  let isDown = false;
  let isReadOnly = false;
  let calls = 0;
  const shared = {
    async consume(quota: Quota) {
      calls++;
      if (isDown || isReadOnly) throw new Error("out of reach");
      return server.consume(quota);
    },
    async peek(quota: Quota) {
      calls++;
      if (isDown) throw new Error("out of reach");
      return server.peek(quota);
    },
  };
  const counter = new FallbackCounter({
    shared,
    local: new MemoryCounter(),
    onLost: (reason) => events.push((reason as Error).message),
    onRestored: () => {
      events.push("restored");
      restored.resolve();
    },
  });
  return {
    counter,
    events,
    restored: restored.promise,
    calls: () => calls,
    setDown: (value: boolean) => (isDown = value),
    setReadOnly: (value: boolean) => (isReadOnly = value),
    [Symbol.dispose]: () => counter[Symbol.dispose](),
  };
}

const QUOTA: Quota = { key: "deploy", limit: 3, windowSeconds: 60 };

test("the loss and the return of the shared counter are reported once each, and its counts remain", async () => {
  using t = setUp();
  expect((await t.counter.consume(QUOTA)).remaining).toBe(2);
  t.setDown(true);
  const during = [await t.counter.consume(QUOTA), await t.counter.consume(QUOTA), await t.counter.peek(QUOTA)];
  expect(during.map(({ remaining }) => remaining)).toEqual([2, 1, 1]);
  t.setDown(false);
  await t.restored;
  expect((await t.counter.consume(QUOTA)).remaining).toBe(1);
  expect(t.events).toEqual(["out of reach", "restored"]);
});

test("only the calls that run during the first failure wait for the shared counter", async () => {
  using t = setUp();
  t.setDown(true);
  await Promise.all([t.counter.consume(QUOTA), t.counter.peek(QUOTA)]);
  const callsAtFailure = t.calls();
  for (let n = 0; n < 100; n++) await t.counter.consume({ ...QUOTA, key: `deploy-${n}` });
  expect([callsAtFailure, t.calls()]).toEqual([2, 2]);
});

test("a shared counter that can only be read has not returned", async () => {
  using t = setUp();
  t.setReadOnly(true);
  await t.counter.consume(QUOTA);
  const callsAtFailure = t.calls();
  while (t.calls() < callsAtFailure + 2) await delay(50);
  expect(t.events).toEqual(["out of reach"]);
});
