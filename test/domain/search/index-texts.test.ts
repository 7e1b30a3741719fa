import { expect, test } from "vitest";
import { addToIndex, dropScope, removeFromIndex } from "../../../domain/search/index-texts.ts";
import { sampleText as text, TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const newScope = () => new TestScope(service);

test("texts get ascending ids, each of which is used once", async () => {
  const scope = newScope();
  expect(await scope.add(text("first"), text(""), text("second"))).toEqual([0, 1, 2]);
  expect(await scope.add()).toEqual([]);
  await scope.transact((tx) => removeFromIndex(tx, scope.key, [{ ...text("second"), indexId: 2 }]));
  expect(await scope.add(text("third"))).toEqual([3]);
});

test("the statistics count the texts with words, and all their words that are not stop words", async () => {
  const scope = newScope();
  await scope.add(
    text("the invoice of a customer", { title: "Refund" }),
    text(""),
    text("invoice", { language: "simple" }),
  );
  const { scope: row, postings } = await scope.readRows();
  expect(row).toMatchObject({ text_count: 2, total_length: "4", next_index_id: 3 });
  expect(postings.map(({ term, count }) => [term, count])).toEqual([
    ["custom", 1],
    ["invoic", 1],
    ["invoice", 1],
    ["refund", 1],
  ]);
});

test("two connections that write at once get different ids and keep the statistics exact", async () => {
  const scope = newScope();
  const writes = Array.from({ length: 8 }, (_, index) => scope.add(text(`shared word${index}`), text("shared")));
  const ids = (await Promise.all(writes)).flat();
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, index) => index));
  const { scope: row, postings } = await scope.readRows();
  expect(row).toMatchObject({ text_count: 16, total_length: "24", next_index_id: 16 });
  const shared = postings.filter(({ term }) => term === "share");
  expect(shared.map(({ count, data }) => [count, data.length])).toEqual([[16, 64]]);
  expect(await scope.find("shared")).toHaveLength(16);
});

test("a scope uses up one id, however many texts are added", async () => {
  const [scope, next] = [newScope(), newScope()];
  await scope.add(text("first"));
  const { scope: row } = await scope.readRows();
  for (let count = 0; count < 20; count += 1) await scope.add(text("another"));
  await next.add(text("first"));
  const { scope: nextRow } = await next.readRows();
  // No other test uses this database at the same time.
  expect(nextRow!.id).toBe(row!.id + 1);
});

test("a transaction that is rolled back leaves nothing, and its change is visible only within it", async () => {
  const scope = newScope();
  await scope.add(text("kept"));
  const before = await scope.readRows();
  const failed = scope.transact(async (tx) => {
    await addToIndex(tx, scope.key, [text("rolled back"), text("kept")]);
    expect(await scope.find("rolled")).toEqual([]);
    throw new Error("rolled back");
  });
  await expect(failed).rejects.toThrow("rolled back");
  expect(await scope.readRows()).toEqual(before);
});

test("removed texts leave no posting, in any block", async () => {
  const scope = newScope();
  const texts = Array.from({ length: 4200 }, (_, index) => text(`shared word${index}`, { title: "Title" }));
  const ids = await scope.add(...texts);
  const numbered = texts.map((one, index) => ({ ...one, indexId: ids[index]! }));
  await scope.transact((tx) => removeFromIndex(tx, scope.key, numbered.slice(1, 4150)));
  expect(await scope.find("shared", { limit: 100 })).toEqual([0, ...ids.slice(4150)]);
  const { postings } = await scope.readRows();
  expect(postings.filter(({ term }) => term === "share").map(({ count, data }) => [count, data.length])).toEqual([
    [1, 4],
    [50, 200],
  ]);
  await scope.transact((tx) => removeFromIndex(tx, scope.key, [...numbered.slice(0, 1), ...numbered.slice(4150)]));
  const { scope: row, postings: left } = await scope.readRows();
  expect(left).toEqual([]);
  expect(row).toMatchObject({ text_count: 0, total_length: "0" });
});

test("removing a text that is not in the scope changes nothing", async () => {
  const scope = newScope();
  await scope.transact((tx) => removeFromIndex(tx, scope.key, [{ ...text("absent"), indexId: 0 }]));
  await scope.add(text("refund"));
  const before = await scope.readRows();
  await scope.transact((tx) => removeFromIndex(tx, scope.key, []));
  await scope.transact((tx) => removeFromIndex(tx, scope.key, [{ ...text("refund"), indexId: 7 }]));
  expect(await scope.readRows()).toEqual(before);
});

test("a removed scope leaves no row, and does not affect another one", async () => {
  const [scope, other] = [newScope(), newScope()];
  await scope.add(text("refund"));
  await other.add(text("refund"));
  const { scope: row } = await scope.readRows();
  await scope.transact((tx) => dropScope(tx, scope.key));
  const { db } = service().service.parts;
  expect(await db.selectFrom("search_postings").where("scope_id", "=", row!.id).selectAll().execute()).toEqual([]);
  expect(await scope.readRows()).toEqual({ scope: undefined, postings: [] });
  expect(await other.find("refund")).toEqual([0]);
  expect(await scope.add(text("refund"))).toEqual([0]);
});

test("removed texts and scopes leave no vector, and the vectors of other scopes stay", async () => {
  const [scope, other] = [newScope(), newScope()];
  const texts = ["first", "second", "third"].map((body) => text(body));
  await scope.addWithVectors(...texts);
  await other.addWithVectors(...texts);
  await scope.transact((tx) =>
    removeFromIndex(
      tx,
      scope.key,
      [0, 2].map((indexId) => ({ ...texts[indexId]!, indexId })),
    ),
  );
  expect([await scope.readVectorIds(), await other.readVectorIds()]).toEqual([[1], [0, 1, 2]]);
  await scope.transact((tx) => dropScope(tx, scope.key));
  const { db } = service().service.parts;
  const left = db.selectFrom("search_vectors").select("scope_id").distinct();
  expect(await left.execute()).toEqual([{ scope_id: (await other.readRows()).scope!.id }]);
});

test("NUL, unpaired surrogates and long words in a text are stored and found without them", async () => {
  const scope = newScope();
  await scope.add(text(`re\u0000fund \ud800invoice\udfff ${"x".repeat(10_000)} ${"𐌲".repeat(50)}`));
  expect(await scope.find("fund")).toEqual([0]);
  expect(await scope.find("invoice")).toEqual([0]);
  expect(await scope.find("x".repeat(9000))).toEqual([0]);
  expect(await scope.find("𐌲".repeat(40))).toEqual([0]);
});
