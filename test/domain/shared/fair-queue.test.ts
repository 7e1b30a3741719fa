import { expect, test } from "vitest";
import { FairQueue, type FairQueueLimits } from "../../../domain/shared/fair-queue.ts";

const LIMITS: FairQueueLimits = { running: 2, runningPerKey: 1, waiting: 10 };

/** Starts work that lasts until `end` is called, and logs its start. */
function start(queue: FairQueue, log: string[], key: string, name: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const result = queue.run(key, () => {
    log.push(name);
    return promise;
  });
  return { result, end: resolve };
}

const pendingWork = () => new Promise((resolve) => setImmediate(resolve));

test("keys take turns, whatever one of them has queued before", async () => {
  const queue = new FairQueue({ running: 1, runningPerKey: 1, waiting: 10 }, "busy");
  const log: string[] = [];
  const works = [
    ...["a1", "a2", "a3"].map((name) => start(queue, log, "a", name)),
    ...["b1", "b2"].map((name) => start(queue, log, "b", name)),
    start(queue, log, "c", "c1"),
  ];
  for (const { end } of works) end();
  await Promise.all(works.map(({ result }) => result));
  expect(log).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
  expect(queue.counts).toEqual({ running: 0, waiting: 0 });
});

test("a key has at most its share of the running work, and others use the rest", async () => {
  const queue = new FairQueue(LIMITS, "busy");
  const log: string[] = [];
  const [first, second] = ["a1", "a2"].map((name) => start(queue, log, "a", name));
  const other = start(queue, log, "b", "b1");
  await pendingWork();
  expect(log).toEqual(["a1", "b1"]);
  other.end();
  await other.result;
  expect(log).toEqual(["a1", "b1"]);
  first!.end();
  await first!.result;
  await pendingWork();
  expect(log).toEqual(["a1", "b1", "a2"]);
  second!.end();
  await second!.result;
});

test("work beyond the bounds of the queue is rejected as unavailable, in all and of one key", async () => {
  const queue = new FairQueue({ ...LIMITS, waiting: 2, waitingPerKey: 1 }, "The service is busy.");
  const works = ["a", "a", "b", "b"].map((key) => start(queue, [], key, key));
  const rejection = { code: "unavailable", message: "The service is busy." };
  await expect(queue.run("a", async () => {})).rejects.toMatchObject(rejection);
  await expect(queue.run("c", async () => {})).rejects.toMatchObject(rejection);
  for (const { end } of works) end();
  await Promise.all(works.map(({ result }) => result));
  await expect(queue.run("c", async () => "runs")).resolves.toBe("runs");
});

test("work that waits longer than allowed is rejected, and leaves the queue", async () => {
  const queue = new FairQueue({ ...LIMITS, waitMs: 5 }, "busy");
  const running = start(queue, [], "a", "a1");
  await expect(queue.run("a", async () => {})).rejects.toMatchObject({ code: "unavailable" });
  expect(queue.counts).toEqual({ running: 1, waiting: 0 });
  running.end();
  await running.result;
});

test("a signal removes waiting work, and work whose signal is aborted already never starts", async () => {
  const queue = new FairQueue(LIMITS, "busy");
  const running = start(queue, [], "a", "a1");
  const controller = new AbortController();
  let hasRun = false;
  const aborted = queue.run("a", async () => void (hasRun = true), controller.signal);
  controller.abort(new Error("client has gone"));
  await expect(aborted).rejects.toThrow("client has gone");
  expect(queue.counts.waiting).toBe(0);
  running.end();
  await running.result;
  await expect(queue.run("b", async () => void (hasRun = true), controller.signal)).rejects.toThrow("client has gone");
  expect([hasRun, queue.counts]).toEqual([false, { running: 0, waiting: 0 }]);
});

test("work that fails, and a release that is repeated, free exactly one place", async () => {
  const queue = new FairQueue(LIMITS, "busy");
  await expect(queue.run("a", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  const release = await queue.acquire("a");
  const releaseOther = await queue.acquire(null);
  release();
  release();
  expect(queue.counts).toEqual({ running: 1, waiting: 0 });
  releaseOther();
});
