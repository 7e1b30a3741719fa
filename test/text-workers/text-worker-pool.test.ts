import { expect, test } from "vitest";
import { TextWorkerPool } from "../../server/text-workers/text-worker-pool.ts";

const document = { title: "Travel", kind: "policy", language: "english" } as const;
const indexOf = (pool: TextWorkerPool, content: string, orgId = "a", signal?: AbortSignal) =>
  pool.run(orgId, "indexDocument", { document, content }, signal);

const words = (count: number): string => Array.from({ length: count }, (_, n) => `w${n.toString(36)}`).join(" ");
/** A text that takes a thread some seconds. */
const LARGE = words(500_000);

test("a task runs in another thread, and returns plain data", async () => {
  await using pool = new TextWorkerPool();
  const { passages, texts } = await indexOf(pool, "# Trains\n\nBook early.\n");
  expect(passages).toMatchObject([{ heading: "Trains", content: "Book early." }]);
  expect(texts).toMatchObject({ size: 1, count: 1, chunks: [{ terms: expect.stringContaining("book") }] });
});

test("a task that exceeds its processor time is ended with an error for the caller, and the next task runs", async () => {
  await using pool = new TextWorkerPool({ threads: 1, taskCpuMs: 1000 });
  await indexOf(pool, "One.");
  await expect(indexOf(pool, words(2_000_000))).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("takes too much time or memory"),
  });
  expect((await indexOf(pool, "Two.")).passages).toHaveLength(1);
});

test("a task that exceeds its memory is ended with an error for the caller, and the next task runs", async () => {
  await using pool = new TextWorkerPool({ threads: 1, heapMb: 24 });
  await expect(indexOf(pool, LARGE)).rejects.toMatchObject({ code: "invalid" });
  expect((await indexOf(pool, "Two.")).passages).toHaveLength(1);
});

test("a signal ends the task of a client that has gone, and frees its thread", async () => {
  await using pool = new TextWorkerPool({ threads: 1 });
  await indexOf(pool, "One.");
  const client = new AbortController();
  const task = indexOf(pool, LARGE, "a", client.signal);
  client.abort(new Error("client has gone"));
  await expect(task).rejects.toThrow("client has gone");
  expect((await indexOf(pool, "Two.")).passages).toHaveLength(1);
});

test("while one organization has many texts in the queue, the text of another one is processed first", async () => {
  await using pool = new TextWorkerPool({ threads: 2 });
  const ended: string[] = [];
  const large = Array.from({ length: 4 }, async () => {
    await indexOf(pool, words(50_000), "a");
    ended.push("large");
  });
  await indexOf(pool, "One.", "b");
  ended.push("small");
  await Promise.all(large);
  expect(ended).toEqual(["small", "large", "large", "large", "large"]);
});
