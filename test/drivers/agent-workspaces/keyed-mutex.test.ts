import { expect, test } from "vitest";
import { KeyedMutex } from "../../../server/drivers/agent-workspaces/keyed-mutex.ts";

const NEVER = new AbortController().signal;

/** Runs tasks that end when the test says so, and records when each starts. */
function givenTasks() {
  const mutex = new KeyedMutex();
  const started: string[] = [];
  const start = (name: string, { key = "key", signal = NEVER }: { key?: string; signal?: AbortSignal } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const result = mutex.run(key, signal, async () => {
      started.push(name);
      return await promise;
    });
    result.catch(() => undefined);
    return { result, end: () => resolve(name), fail: () => reject(new Error(name)) };
  };
  return { started, start };
}

/** Longer than all callbacks need that are due. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 10));

test("the tasks of one key run one after the other, in the order of their calls, and those of others at once", async () => {
  const { started, start } = givenTasks();
  const [first, second, third] = [start("first"), start("second"), start("third")];
  const other = start("other", { key: "other" });
  await settle();
  expect(started).toEqual(["first", "other"]);
  first.end();
  expect(await first.result).toBe("first");
  await settle();
  expect(started).toEqual(["first", "other", "second"]);
  second.end();
  third.end();
  other.end();
  expect(await Promise.all([second.result, third.result, other.result])).toEqual(["second", "third", "other"]);
});

test("a failed task does not prevent the next one", async () => {
  const { start } = givenTasks();
  const [first, second] = [start("first"), start("second")];
  first.fail();
  second.end();
  await expect(first.result).rejects.toThrow("first");
  expect(await second.result).toBe("second");
});

test("an aborted task never starts, and later ones still wait for the running one", async () => {
  const { started, start } = givenTasks();
  const abort = new AbortController();
  const first = start("first");
  const aborted = start("aborted", { signal: abort.signal });
  await settle();
  abort.abort(new Error("gone"));
  await expect(aborted.result).rejects.toThrow("gone");
  const last = start("last");
  await settle();
  expect(started).toEqual(["first"]);
  first.end();
  last.end();
  expect(await last.result).toBe("last");
  expect(started).toEqual(["first", "last"]);
});

test("an abort has no effect on a running task, and a signal that is aborted already starts none", async () => {
  const { started, start } = givenTasks();
  const abort = new AbortController();
  const running = start("running", { signal: abort.signal });
  await settle();
  abort.abort(new Error("gone"));
  running.end();
  expect(await running.result).toBe("running");
  await expect(start("late", { signal: abort.signal }).result).rejects.toThrow("gone");
  expect(started).toEqual(["running"]);
});
