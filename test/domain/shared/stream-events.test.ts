import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { ChangeSignal, invalidEventId } from "../../../domain/shared/stream-events.ts";

const never = new AbortController().signal;

test("a change wakes every reader that waits, and none that waits for the next one", async () => {
  const change = new ChangeSignal();
  const woken: string[] = [];
  const wait = (name: string) => change.wait(never).then(() => woken.push(name));
  const waiting = [wait("first"), wait("second")];
  change.notify();
  const next = wait("next");
  await Promise.all(waiting);
  expect(woken).toEqual(["first", "second"]);
  change.notify();
  await next;
  expect(woken).toEqual(["first", "second", "next"]);
});

test("a reader that is aborted gets the reason, and leaves no listener", async () => {
  const change = new ChangeSignal();
  const controller = new AbortController();
  const reason = new Error("The client is gone.");
  const waiting = change.wait(controller.signal);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(change.wait(controller.signal)).rejects.toBe(reason);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
});

test("a reader that was woken leaves no listener", async () => {
  const change = new ChangeSignal();
  const { signal } = new AbortController();
  const waiting = change.wait(signal);
  change.notify();
  await waiting;
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("the id of an unknown event is an error of the caller", () => {
  expect(invalidEventId()).toMatchObject({ code: "invalid" });
});
