import { beforeEach, expect, test } from "vitest";
import { QueryEmbedder } from "../../../domain/search/query-embedder.ts";
import { type MeaningQuery, searchByMeaning } from "../../../domain/search/search-by-meaning.ts";
import { encodeVector, signsOf } from "../../../domain/search/vectors.ts";
import { FakeEmbeddings } from "../../support/search/fake-embeddings.ts";
import { sampleText, TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let scope: TestScope;
let embeddings: FakeEmbeddings;

beforeEach(() => {
  scope = new TestScope(service);
  embeddings = new FakeEmbeddings();
});

interface StoredVector {
  vector: number[];
  category?: number;
}

/** Stores vectors of the model `m` in the scope, with the index ids from 0. */
async function store(vectors: StoredVector[]): Promise<void> {
  const ids = await scope.add(...vectors.map(() => sampleText("text")));
  const { db } = service().service.parts;
  const { id } = (await scope.readRows()).scope!;
  const progress = { embedding_model: "m", embedded_index_id: ids.length };
  await db.updateTable("search_scopes").set(progress).where("id", "=", id).execute();
  const rows = vectors.map(({ vector, category = 0 }, index) => {
    const numbers = Float32Array.from(vector);
    const stored = { signs: signsOf(numbers), vector: encodeVector(numbers) };
    return { scope_id: id, index_id: ids[index]!, category, ...stored };
  });
  await db.insertInto("search_vectors").values(rows).execute();
}

const cosine = (value: number): number[] => [value, Math.sqrt(1 - value ** 2)];

async function find(more: Partial<MeaningQuery> = {}, key = scope.key): Promise<[number, number][]> {
  const queryEmbedder = new QueryEmbedder({ embeddings, report: () => undefined });
  const query = { text: "what is searched for", limit: 10, ...more };
  const hits = await searchByMeaning({ db: service().service.parts.db, queryEmbedder }, key, query);
  return hits.map(({ indexId, similarity }) => [indexId, Math.round(similarity * 1000) / 1000]);
}

test("the most similar texts are first, of equal ones those with the lowest index id, and none that differs too much", async () => {
  await store([0.7, 0.9, 0.4, -0.9, 0.9, 0.5].map((value) => ({ vector: cosine(value) })));
  expect(await find()).toEqual([
    [1, 0.9],
    [4, 0.9],
    [0, 0.7],
    [5, 0.5],
  ]);
  expect(await find({ limit: 2 })).toEqual([
    [1, 0.9],
    [4, 0.9],
  ]);
  expect(embeddings.calls[0]!.texts).toEqual(["what is searched for"]);
});

test("a search can be restricted to categories", async () => {
  await store([1, 2, 1].map((category) => ({ vector: cosine(0.9), category })));
  expect((await find({ categories: [1] })).map(([id]) => id)).toEqual([0, 2]);
  expect((await find({ categories: [2, 1] })).map(([id]) => id)).toEqual([0, 1, 2]);
});

test("vectors with another number of dimensions are not compared", async () => {
  await store([{ vector: [1] }, { vector: cosine(0.9) }, { vector: [0.6, 0.8, 0] }]);
  expect(await find()).toEqual([[1, 0.9]]);
});

test("of more than 500 texts, those with the most similar signs are compared", async () => {
  embeddings.embed = () => Promise.resolve([Float32Array.of(0.6, 0.8, 0)]);
  // The signs of the query are 110. Those of the far texts, 101, differ in two places; those of the near one, 010, in the first.
  const far = { vector: [0.6, 0, 0.8] };
  await store([...Array.from({ length: 500 }, () => far), { vector: [0, 1, 0] }]);
  expect(await find()).toEqual([[500, 0.8]]);
});

test("of equally similar texts, the one with the lowest index id is first, whatever their signs", async () => {
  // The signs of the query are 10, those of the texts 11 and 10.
  await store([{ vector: [0.8, 0.6] }, { vector: [0.8, -0.6] }]);
  expect(await find()).toEqual([
    [0, 0.8],
    [1, 0.8],
  ]);
});

test("a scope of another organization, kind, owner or model is not searched, and the endpoint not asked", async () => {
  await store([{ vector: cosine(0.9) }]);
  const other = new TestScope(service).key;
  for (const key of [{ orgId: other.orgId }, { kind: "memory" as const }, { ownerId: other.ownerId }])
    expect(await find({}, { ...scope.key, ...key })).toEqual([]);
  embeddings = new FakeEmbeddings("n");
  expect(await find()).toEqual([]);
  expect(embeddings.calls).toEqual([]);
});

test("the endpoint is not asked for a scope of which no text is embedded yet", async () => {
  await store([{ vector: cosine(0.9) }]);
  const em = service().service.parts.orm.em.fork();
  await em.execute("update search_scopes set embedded_index_id = 0 where owner_id = ?", [scope.key.ownerId]);
  expect([await find(), embeddings.calls]).toEqual([[], []]);
});

test("without an endpoint, or when it does not respond, nothing is found", async () => {
  await store([{ vector: cosine(0.9) }]);
  const { db } = service().service.parts;
  expect(await searchByMeaning({ db, queryEmbedder: null }, scope.key, { text: "a", limit: 10 })).toEqual([]);
  embeddings.beforeResponse = () => {
    throw new Error("unavailable");
  };
  expect(await find()).toEqual([]);
});
