import { expect, test } from "vitest";
import { KeyedLock } from "../../../domain/shared/keyed-lock.ts";

/** Starts work under a lock. The work lasts until `finish` is called. */
function start(lock: KeyedLock, log: string[], name: string, keys: string[], signal?: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const work = () => {
    log.push(name);
    return promise;
  };
  const result = lock.run(keys, work, signal);
  result.catch(() => undefined);
  return { result, finish: () => resolve(name), fail: () => reject(new Error(name)) };
}

const pendingWork = () => new Promise((resolve) => setImmediate(resolve));

test("callers of one key run one at a time in the order of their calls, and other keys do not wait", async () => {
  const lock = new KeyedLock();
  const log: string[] = [];
  const [first, second, third] = ["first", "second", "third"].map((name) => start(lock, log, name, ["a"]));
  const other = start(lock, log, "other", ["b"]);
  await pendingWork();
  expect(log).toEqual(["first", "other"]);
  first!.finish();
  expect(await first!.result).toBe("first");
  await pendingWork();
  expect(log).toEqual(["first", "other", "second"]);
  const last = start(lock, log, "last", ["a"]);
  await pendingWork();
  expect(log).toEqual(["first", "other", "second"]);
  second!.fail();
  await expect(second!.result).rejects.toThrow("second");
  await pendingWork();
  expect(log.at(-1)).toBe("third");
  third!.finish();
  other.finish();
  last.finish();
  expect(await Promise.all([third!.result, other.result])).toEqual(["third", "other"]);
  expect(await last.result).toBe("last");
});

test("a caller with several keys waits for all of them, and the callers after it wait for it", async () => {
  const lock = new KeyedLock();
  const log: string[] = [];
  const a = start(lock, log, "a", ["a"]);
  const b = start(lock, log, "b", ["b"]);
  const both = start(lock, log, "both", ["b", "a"]);
  const after = start(lock, log, "after", ["a", "b"]);
  b.finish();
  await pendingWork();
  expect(log).toEqual(["a", "b"]);
  a.finish();
  await pendingWork();
  expect(log).toEqual(["a", "b", "both"]);
  both.finish();
  await pendingWork();
  expect(log).toEqual(["a", "b", "both", "after"]);
  after.finish();
  await after.result;
});

test("a lock is idle when no key is locked or waited for", async () => {
  const lock = new KeyedLock();
  await lock.idle();
  const log: string[] = [];
  const first = start(lock, log, "first", ["a"]);
  const second = start(lock, log, "second", ["a", "b"]);
  const idle = lock.idle().then(() => log.push("idle"));
  first.finish();
  await pendingWork();
  expect(log).toEqual(["first", "second"]);
  second.finish();
  await idle;
  expect(log.at(-1)).toBe("idle");
});

test("an aborted caller never runs, and later ones still wait for the running one", async () => {
  const lock = new KeyedLock();
  const log: string[] = [];
  const abort = new AbortController();
  const first = start(lock, log, "first", ["a"]);
  const aborted = start(lock, log, "aborted", ["a"], abort.signal);
  await pendingWork();
  abort.abort(new Error("gone"));
  await expect(aborted.result).rejects.toThrow("gone");
  const last = start(lock, log, "last", ["a"]);
  await pendingWork();
  expect(log).toEqual(["first"]);
  first.finish();
  last.finish();
  expect(await last.result).toBe("last");
  expect(log).toEqual(["first", "last"]);
});

test("an abort has no effect on running work, and nothing starts with a signal that is aborted already", async () => {
  const lock = new KeyedLock();
  const log: string[] = [];
  const abort = new AbortController();
  const running = start(lock, log, "running", ["a"], abort.signal);
  await pendingWork();
  abort.abort(new Error("gone"));
  running.finish();
  expect(await running.result).toBe("running");
  await expect(start(lock, log, "late", ["a"], abort.signal).result).rejects.toThrow("gone");
  expect(log).toEqual(["running"]);
});
