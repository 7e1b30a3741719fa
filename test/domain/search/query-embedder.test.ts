import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { QueryEmbedder } from "../../../domain/search/query-embedder.ts";
import { FakeEmbeddings } from "../../support/search/fake-embeddings.ts";

let embeddings: FakeEmbeddings;
let reported: unknown[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  // The service has been running for a minute.
  vi.advanceTimersByTime(60_000);
  embeddings = new FakeEmbeddings();
  reported = [];
});
afterEach(() => {
  vi.useRealTimers();
});

function create(more: { timeLimitMs?: number; pauseMs?: number } = {}): QueryEmbedder {
  return new QueryEmbedder({ embeddings, report: (error) => reported.push(error), ...more });
}

/** Lets the endpoint respond after some time on the fake clock, with vectors or an error. */
function respondAfter(durationMs: number, error: Error | null = null): void {
  embeddings.beforeResponse = () => {
    vi.advanceTimersByTime(durationMs);
    if (error !== null) throw error;
  };
}

test("each text gets a vector of the endpoint, which has a second to respond", async () => {
  const embedder = create();
  expect(await embedder.embed("org-1", ["a", "b"])).toEqual([Float32Array.of(1, 0), Float32Array.of(1, 0)]);
  await create({ timeLimitMs: 70 }).embed("org-1", ["a"]);
  expect(embeddings.calls.map(({ options }) => options)).toEqual([{ timeLimitMs: 1000 }, { timeLimitMs: 70 }]);
  expect([embedder.model, embedder.minSimilarity]).toEqual(["m", 0.5]);
});

test("after a quick failure, which is reported, the endpoint is asked again", async () => {
  const embedder = create();
  const error = new Error("unavailable");
  respondAfter(499, error);
  expect(await embedder.embed("org-1", ["a"])).toBeNull();
  expect(reported).toEqual([error]);
  respondAfter(0);
  expect(await embedder.embed("org-1", ["a"])).toHaveLength(1);
});

test.each([
  [{}, 500, 10_000],
  [{ timeLimitMs: 100, pauseMs: 300 }, 50, 300],
])("with %j, the endpoint is not asked for a while after a failure of %i ms", async (options, durationMs, pauseMs) => {
  const embedder = create(options);
  respondAfter(durationMs, new Error("too late"));
  expect(await embedder.embed("org-1", ["a"])).toBeNull();
  respondAfter(0);
  vi.advanceTimersByTime(pauseMs - 1);
  expect(await embedder.embed("org-1", ["a"])).toBeNull();
  expect([reported.length, embeddings.calls.length]).toEqual([1, 1]);
  vi.advanceTimersByTime(1);
  expect(await embedder.embed("org-1", ["a"])).toHaveLength(1);
});

test("after a slow response, the endpoint is asked again", async () => {
  const embedder = create();
  respondAfter(900);
  await embedder.embed("org-1", ["a"]);
  expect(await embedder.embed("org-1", ["a"])).toHaveLength(1);
});

test("an organization has at most half of the queries that are embedded and that wait", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  embeddings.beforeResponse = () => promise;
  const embedder = create();
  const queries = Array.from({ length: 41 }, () => embedder.embed("org-1", ["a"]));
  expect(await queries.at(-1)).toBeNull();
  expect(embeddings.calls).toHaveLength(8);
  const other = embedder.embed("org-2", ["b"]);
  await expect.poll(() => embeddings.calls.length).toBe(9);
  resolve();
  expect(await other).toHaveLength(1);
  expect((await Promise.all(queries.slice(0, -1))).every((vectors) => vectors?.length === 1)).toBe(true);
  expect(reported).toEqual([]);
});
