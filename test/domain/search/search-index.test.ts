import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type Db, queryBuilderOf } from "../../../domain/database-types.ts";
import { addToIndex, dropScope, type IndexedText, removeFromIndex } from "../../../domain/search/index-texts.ts";
import { type IndexQuery, searchIndex } from "../../../domain/search/search-index.ts";
import type { ScopeKey } from "../../../domain/search/search-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

const newScope = (): ScopeKey => ({ orgId: randomUUID(), kind: "knowledge", ownerId: randomUUID() });

const text = (body: string, more: Partial<IndexedText> = {}): IndexedText => ({
  title: "",
  body,
  category: 0,
  language: "english",
  ...more,
});

const transact = <T>(work: (tx: Db) => Promise<T>): Promise<T> =>
  service()
    .service.parts.orm.em.fork()
    .transactional((em) => work(queryBuilderOf(em)));

const add = (scope: ScopeKey, ...texts: IndexedText[]) => transact((tx) => addToIndex(tx, scope, texts));

async function find(scope: ScopeKey, query: string, more: Partial<IndexQuery> = {}): Promise<number[]> {
  const hits = await searchIndex(service().service.parts.db, scope, {
    text: query,
    language: "english",
    limit: 50,
    ...more,
  });
  return hits.map(({ indexId }) => indexId);
}

test("a text is found by each of its words, the best match first", async () => {
  const scope = newScope();
  const ids = await add(
    scope,
    text("Refunds are paid within ten days."),
    text("Invoices are sent monthly. Paid by card."),
  );
  expect(ids).toEqual([0, 1]);
  expect(await find(scope, "refund")).toEqual([0]);
  expect(await find(scope, "paid invoice")).toEqual([1, 0]);
  expect(await find(scope, "absent")).toEqual([]);
});

test("a removed text is not found, and nothing of a removed scope", async () => {
  const scope = newScope();
  const removed = text("Refunds are paid within ten days.");
  const [id] = await add(scope, removed, text("Invoices are sent monthly. Paid by card."));
  await transact((tx) => removeFromIndex(tx, scope, [{ ...removed, indexId: id! }]));
  expect(await find(scope, "refund")).toEqual([]);
  expect(await find(scope, "paid")).toEqual([1]);
  await transact((tx) => dropScope(tx, scope));
  expect(await find(scope, "paid")).toEqual([]);
});

test("a word finds longer words and corrected ones on request", async () => {
  const scope = newScope();
  await add(scope, text("Refunds are paid within ten days."), text("Invoices are sent monthly."));
  expect(await find(scope, "invo")).toEqual([]);
  expect(await find(scope, "invo", { prefix: true })).toEqual([1]);
  expect(await find(scope, "invioce")).toEqual([]);
  expect(await find(scope, "invioce", { typos: true })).toEqual([1]);
  expect(await find(scope, "nivoice", { typos: true, language: "any" })).toEqual([1]);
});
