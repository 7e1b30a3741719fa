import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { removeFromIndex } from "../../../domain/search/index-texts.ts";
import { embedScopes } from "../../../domain/search/embed-scopes.ts";
import { QueryEmbedder } from "../../../domain/search/query-embedder.ts";
import { searchByMeaning } from "../../../domain/search/search-by-meaning.ts";
import type { ReadTexts } from "../../../domain/search/update-scopes.ts";
import { AiSdkEmbeddings } from "../../../server/drivers/embeddings/ai-sdk-embeddings.ts";
import { explainCall, nodesOf, rowsRead } from "../../support/database/query-plans.ts";
import { openScriptedEmbeddings, type ScriptedEmbeddings } from "../../support/search/scripted-embeddings.ts";
import { sampleText, TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let endpoint: ScriptedEmbeddings;
let scope: TestScope;
/** The texts of all scopes, by owner and index id. */
const stored = new Map<string, Map<number, string>>();

beforeAll(async () => {
  endpoint = await openScriptedEmbeddings();
});
afterAll(() => endpoint[Symbol.asyncDispose]());
beforeEach(async () => {
  endpoint.fail(null);
  endpoint.reject(null);
  // Nothing of an earlier test is left to embed.
  await embed();
  scope = new TestScope(service);
});

const readTexts: ReadTexts = (_db, { ownerId }, { from, limit }) => {
  const texts = [...(stored.get(ownerId) ?? [])].filter(([indexId]) => indexId >= from).slice(0, limit);
  return Promise.resolve(texts.map(([indexId, body]) => ({ ...sampleText(body), indexId })));
};

async function add(...bodies: string[]): Promise<void> {
  const ids = await scope.add(...bodies.map((body) => sampleText(body)));
  const texts = stored.get(scope.key.ownerId) ?? new Map<number, string>();
  stored.set(scope.key.ownerId, texts);
  for (const [index, id] of ids.entries()) texts.set(id, bodies[index]!);
}

async function remove(indexId: number): Promise<void> {
  const body = stored.get(scope.key.ownerId)!.get(indexId)!;
  stored.get(scope.key.ownerId)!.delete(indexId);
  await scope.transact((tx) => removeFromIndex(tx, scope.key, [{ ...sampleText(body), indexId }]));
}

const rejected: object[] = [];

function embed(model = "m", read = readTexts): Promise<number> {
  const embeddings = new AiSdkEmbeddings({ ...endpoint.settings, model });
  const { db } = service().service.parts;
  const deps = { db, embeddings, readers: { knowledge: read }, reportRejected: (text: object) => rejected.push(text) };
  return embedScopes(deps, new AbortController().signal);
}

function deps(model = "m", report: (error: unknown) => void = () => undefined) {
  const embeddings = new AiSdkEmbeddings({ ...endpoint.settings, model });
  return { db: service().service.parts.db, queryEmbedder: new QueryEmbedder({ embeddings, report, timeLimitMs: 500 }) };
}

async function find(text: string, model?: string): Promise<number[]> {
  const hits = await searchByMeaning(deps(model), scope.key, { text, limit: 10 });
  return hits.map(({ indexId }) => indexId);
}

test("a text is found by a word with the same meaning, and a text about another subject is not", async () => {
  await add("a car", "tea", "an automobile in the garage");
  expect(await embed()).toBe(3);
  expect(await find("vehicle")).toEqual([0, 2]);
  expect(await find("newborn")).toEqual([]);
});

test("texts are embedded once, and the next call embeds those that were added meanwhile", async () => {
  await add(...Array.from({ length: 70 }, (_, index) => `car number ${index}`));
  expect([await embed(), await embed()]).toEqual([70, 0]);
  await add("a vehicle");
  expect(await embed()).toBe(1);
});

test("after a failure in the middle, the next call continues with the texts that are left", async () => {
  await add(...Array.from({ length: 32 }, () => "car"), ...Array.from({ length: 10 }, () => "late bill"));
  const failing: ReadTexts = (db, key, range) => {
    if (range.from > 0) endpoint.fail(503);
    return readTexts(db, key, range);
  };
  await expect(embed("m", failing)).rejects.toThrow("status 503");
  endpoint.fail(null);
  expect(await embed()).toBe(10);
});

test("a text that is removed while the endpoint responds leaves no vector", async () => {
  await add("a car", "a bill");
  let reads = 0;
  const removing: ReadTexts = async (db, key, range) => {
    const texts = await readTexts(db, key, range);
    if (key.ownerId === scope.key.ownerId && ++reads === 1) await remove(0);
    return texts;
  };
  await embed("m", removing);
  expect([await find("vehicle"), await find("payment")]).toEqual([[], [1]]);
});

test("another model ignores the vectors, removes them and embeds all texts again", async () => {
  await add("a car");
  await embed();
  expect(await find("vehicle", "other")).toEqual([]);
  await embed("other");
  expect([await find("vehicle", "other"), await find("vehicle")]).toEqual([[0], []]);
});

test("a text that the endpoint rejects is skipped, and the others are embedded", async () => {
  await add("a car", "a vehicle of poison", "an automobile");
  endpoint.reject("poison");
  expect(await embed()).toBe(2);
  expect(rejected).toEqual([{ kind: "knowledge", indexId: 1 }]);
  expect(await find("vehicle")).toEqual([0, 2]);
});

test("when the endpoint rejects every text, none is skipped", async () => {
  await add("a car");
  endpoint.fail(400);
  await expect(embed()).rejects.toThrow("status 400");
  endpoint.fail(null);
  expect(await embed()).toBe(1);
});

test("after a time-out, further searches do not ask the endpoint", async () => {
  await add("a car");
  await embed();
  const errors: unknown[] = [];
  const slow = deps("m", (error) => errors.push(error));
  endpoint.fail("nothing");
  const before = endpoint.calls.length;
  for (let count = 0; count < 3; count++)
    expect(await searchByMeaning(slow, scope.key, { text: "vehicle", limit: 10 })).toEqual([]);
  expect([endpoint.calls.length - before, errors.length]).toEqual([1, 1]);
});

test("the endpoint is not asked for a scope without vectors", async () => {
  await add("a car");
  const before = endpoint.calls.length;
  expect(await find("vehicle")).toEqual([]);
  expect(endpoint.calls.length).toBe(before);
});

test("without an endpoint, changes of texts leave the vectors table and its statistics alone", async () => {
  await scope.add(sampleText("a car"));
  const tables = ["search_vectors"];
  const plans = await explainCall(String(service().config.databaseUrl), tables, () =>
    scope.transact((tx) => removeFromIndex(tx, scope.key, [{ ...sampleText("a car"), indexId: 0 }])),
  );
  const { scope: row } = await scope.readRows();
  expect([plans, row?.embedding_model, row?.embedded_index_id]).toEqual([[], null, 0]);
});

test("a search reads the vectors of its scope, and no vector of another organization", async () => {
  const em = service().service.parts.orm.em.fork();
  await em.execute(
    `insert into search_scopes (org_id, kind, owner_id, next_index_id, text_count, total_length, analyzer_version, embedding_model, embedded_index_id)
     select gen_random_uuid(), 'project', gen_random_uuid(), 300, 300, 300, 1, 'm', 300 from generate_series(1, 20)`,
  );
  await em.execute(
    `insert into search_vectors (scope_id, index_id, category, signs, vector)
     select id, text, 0, repeat('10', 128)::varbit, decode(repeat('00', 1024), 'hex')
     from search_scopes, generate_series(1, 300) as text where kind = 'project'`,
  );
  await add("a car", "tea", "an automobile in the garage");
  await embed();
  await em.execute("vacuum analyze search_vectors, search_scopes");
  const plans = await explainCall(String(service().config.databaseUrl), ["search_vectors"], () => find("vehicle"));
  const scans = plans.flatMap(nodesOf).filter((node) => node["Relation Name"] === "search_vectors");
  expect(scans.map((node) => node["Node Type"])).toEqual([expect.stringMatching(/^(Bitmap Heap|Index) Scan$/)]);
  expect(JSON.stringify(plans)).toMatch(/"Index Cond":"\(scope_id = /);
  expect(scans.reduce((sum, node) => sum + rowsRead(node), 0)).toBe(3);
});
