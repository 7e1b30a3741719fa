import { beforeEach, expect, test } from "vitest";
import { TextsRejected } from "../../../domain/ports/embeddings.ts";
import { embedScopes } from "../../../domain/search/embed-scopes.ts";
import { removeFromIndex } from "../../../domain/search/index-texts.ts";
import type { IndexedText } from "../../../domain/search/indexed-text.ts";
import type { ReadTexts } from "../../../domain/search/update-scopes.ts";
import { encodeVector } from "../../../domain/search/vectors.ts";
import { FakeEmbeddings } from "../../support/search/fake-embeddings.ts";
import { sampleText, TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
/** The texts of all scopes, by owner and index id. */
const stored = new Map<string, Map<number, IndexedText>>();
let embeddings: FakeEmbeddings;
let rejected: object[];

beforeEach(async () => {
  embeddings = new FakeEmbeddings();
  rejected = [];
  // Nothing of an earlier test is left to embed.
  await embed();
  embeddings = new FakeEmbeddings();
});

const readTexts: ReadTexts = (_db, { ownerId }, { from, limit }) => {
  const texts = [...(stored.get(ownerId) ?? [])].filter(([indexId]) => indexId >= from).slice(0, limit);
  return Promise.resolve(texts.map(([indexId, text]) => ({ ...text, indexId })));
};

/** Adds a scope with texts. */
async function scopeOf(...texts: IndexedText[]): Promise<TestScope> {
  const scope = new TestScope(service);
  const ids = await scope.add(...texts);
  stored.set(scope.key.ownerId, new Map(ids.map((id, index) => [id, texts[index]!])));
  return scope;
}

const numbered = (count: number, name = "text") =>
  Array.from({ length: count }, (_, index) => sampleText(`${name} ${index}`));

function embed(signal = new AbortController().signal, readers: object = { knowledge: readTexts }): Promise<number> {
  const { db } = service().service.parts;
  return embedScopes({ db, embeddings, readers, reportRejected: (text) => rejected.push(text) }, signal);
}

async function readVectors(scope: TestScope) {
  const { id } = (await scope.readRows()).scope!;
  const { db } = service().service.parts;
  return await db.selectFrom("search_vectors").selectAll().where("scope_id", "=", id).orderBy("index_id").execute();
}
const idsOf = (scope: TestScope) => scope.readVectorIds();
const sent = () => embeddings.calls.map(({ texts }) => texts);

test("texts are sent with their titles, and their vectors and categories are stored", async () => {
  const scope = await scopeOf(
    sampleText("Cosine 0.6", { title: "Title", category: 3 }),
    sampleText("without a title", { category: 5 }),
  );
  const { signal } = new AbortController();
  expect(await embed(signal)).toBe(2);
  expect(embeddings.calls).toEqual([
    { texts: ["Title\nCosine 0.6", "without a title"], options: { timeLimitMs: 30_000, signal } },
  ]);
  expect(await readVectors(scope)).toMatchObject([
    { index_id: 0, category: 3, signs: "11", vector: encodeVector(Float32Array.of(0.6, 0.8)) },
    { index_id: 1, category: 5, signs: "10", vector: encodeVector(Float32Array.of(1, 0)) },
  ]);
});

test("scopes take turns, with 32 texts each", async () => {
  await scopeOf(...numbered(32, "first"));
  await scopeOf(...numbered(40, "second"));
  await scopeOf(...numbered(1, "third"));
  expect(await embed()).toBe(73);
  expect(sent().map((texts) => [texts.length, texts[0]])).toEqual([
    [32, "first 0"],
    [32, "second 0"],
    [1, "third 0"],
    [8, "second 32"],
  ]);
  expect(await embed()).toBe(0);
});

test("texts that are added during a request are embedded in the same run", async () => {
  const scope = await scopeOf(...numbered(1));
  let isFirst = true;
  embeddings.beforeResponse = async () => {
    if (!isFirst) return;
    isFirst = false;
    const [id] = await scope.add(sampleText("added"));
    stored.get(scope.key.ownerId)!.set(id!, sampleText("added"));
  };
  expect(await embed()).toBe(2);
  expect(await idsOf(scope)).toEqual([0, 1]);
});

test("after an abort, no further scope is embedded, and the next run continues", async () => {
  const scope = await scopeOf(...numbered(40));
  const other = await scopeOf(...numbered(1, "other"));
  expect(await embed(AbortSignal.abort())).toBe(0);
  expect(sent()).toEqual([]);
  const abort = new AbortController();
  embeddings.beforeResponse = () => {
    abort.abort();
  };
  expect(await embed(abort.signal)).toBe(32);
  expect([await idsOf(scope), await idsOf(other)]).toEqual([Array.from({ length: 32 }, (_, id) => id), []]);
  expect(await embed()).toBe(9);
});

test("a scope whose texts cannot be read is not embedded", async () => {
  const scope = await scopeOf(...numbered(1));
  expect(await embed(undefined, { project: readTexts })).toBe(0);
  expect(await embed()).toBe(1);
  expect(await idsOf(scope)).toEqual([0]);
});

test("for a scope without texts, the endpoint is not asked", async () => {
  const scope = await scopeOf(...numbered(1));
  stored.get(scope.key.ownerId)!.clear();
  expect(await embed()).toBe(0);
  expect(sent()).toEqual([]);
  expect((await scope.readRows()).scope).toMatchObject({ embedded_index_id: 1 });
});

test("two processes that embed a scope at once store each vector once", async () => {
  const scope = await scopeOf(...numbered(40));
  await Promise.all([embed(), embed(), embed()]);
  expect(await idsOf(scope)).toEqual(Array.from({ length: 40 }, (_, id) => id));
});

test("texts that another process embeds during the request are not stored again", async () => {
  const scope = await scopeOf(...numbered(40));
  let isFirst = true;
  embeddings.beforeResponse = async () => {
    if (!isFirst) return;
    isFirst = false;
    expect(await embed()).toBe(40);
  };
  await embed();
  expect(sent().map((texts) => texts.length)).toEqual([32, 32, 8]);
  expect(await idsOf(scope)).toEqual(Array.from({ length: 40 }, (_, id) => id));
});

test("vectors of a model that another process has replaced meanwhile are not stored", async () => {
  const scope = await scopeOf(...numbered(2));
  const em = service().service.parts.orm.em.fork();
  let isFirst = true;
  embeddings.beforeResponse = async () => {
    if (isFirst)
      await em.execute("update search_scopes set embedding_model = 'other' where owner_id = ?", [scope.key.ownerId]);
    isFirst = false;
    expect(await idsOf(scope)).toEqual([]);
  };
  await embed();
  expect(sent()).toHaveLength(2);
  expect(await idsOf(scope)).toEqual([0, 1]);
});

test("all texts of a batch that are removed during the request leave no vector", async () => {
  const scope = await scopeOf(...numbered(1));
  embeddings.beforeResponse = async () => {
    await scope.transact((tx) => removeFromIndex(tx, scope.key, [{ ...numbered(1)[0]!, indexId: 0 }]));
    stored.get(scope.key.ownerId)!.clear();
  };
  await embed();
  expect(await idsOf(scope)).toEqual([]);
});

/** Lets the endpoint reject every request with a text that contains the word. */
function reject(word: string): void {
  embeddings.beforeResponse = (texts) => {
    if (texts.some((text) => text.includes(word))) throw new TextsRejected("rejected");
  };
}

test("of a rejected batch, each text is sent alone, and shortened if it is rejected again", async () => {
  const long = `${"x".repeat(1100)} poison`;
  const scope = await scopeOf(sampleText("first"), sampleText(long), sampleText("poison"), sampleText("last"));
  reject("poison");
  const { signal } = new AbortController();
  expect(await embed(signal)).toBe(3);
  expect(sent()).toEqual([
    ["first", long, "poison", "last"],
    ["a short text"],
    ["first"],
    [long],
    ["x".repeat(1000)],
    ["poison"],
    ["poison"],
    ["last"],
  ]);
  for (const { options } of embeddings.calls) expect(options).toEqual({ timeLimitMs: 30_000, signal });
  expect(rejected).toEqual([{ kind: "knowledge", indexId: 2 }]);
  expect(await idsOf(scope)).toEqual([0, 1, 3]);
});

test("a batch of which every text is rejected is skipped if the endpoint accepts another text", async () => {
  const scope = await scopeOf(sampleText("poison"));
  reject("poison");
  expect(await embed()).toBe(0);
  expect((await scope.readRows()).scope).toMatchObject({ embedded_index_id: 1 });
});

test("when the endpoint rejects every text or does not respond, nothing is skipped", async () => {
  const scope = await scopeOf(...numbered(2));
  reject("");
  await expect(embed()).rejects.toThrow(TextsRejected);
  expect(sent()).toEqual([["text 0", "text 1"], ["a short text"]]);
  embeddings = new FakeEmbeddings();
  embeddings.beforeResponse = () => {
    throw new Error("unavailable");
  };
  await expect(embed()).rejects.toThrow("unavailable");
  expect(sent()).toEqual([["text 0", "text 1"]]);
  expect((await scope.readRows()).scope).toMatchObject({ embedded_index_id: 0 });
});
