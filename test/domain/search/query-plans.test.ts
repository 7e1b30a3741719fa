import { beforeAll, expect, test } from "vitest";
import { removeFromIndex } from "../../../domain/search/index-texts.ts";
import { explainCall, nodesOf, rowsRead } from "../../support/database/query-plans.ts";
import { sampleText as text, TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
/** The rows of a scope that count the texts of each language. */
const LANGUAGES = 1;
const TABLES = ["search_scopes", "search_languages", "search_postings"];
const TEXTS = 5000;
/** 5,000 texts are in two blocks. */
const BLOCKS = 2;

/** A word of letters only, which has no parts. */
const wordOf = (index: number) => `qu${String.fromCodePoint(97 + (index % 26), 97 + (Math.floor(index / 26) % 26))}x`;
const sampleTexts = Array.from({ length: TEXTS }, (_, index) =>
  text(`shared common w${index}x ${wordOf(index % 300)}`),
);
let scope: TestScope;

beforeAll(async () => {
  scope = new TestScope(service);
  await scope.add(...sampleTexts);
  // Another organization has the same words.
  for (let other = 0; other < 2; other++) await new TestScope(service).add(...sampleTexts);
  const em = service().service.parts.orm.em.fork();
  await em.execute(
    `insert into search_scopes (org_id, kind, owner_id, next_index_id, text_count, total_length, analyzer_version)
     select gen_random_uuid(), 'memory', gen_random_uuid(), 0, 0, 0, 1 from generate_series(1, 2000)`,
  );
  await em.execute("vacuum analyze search_scopes, search_postings");
});

async function explain(call: () => Promise<unknown>) {
  const plans = await explainCall(String(service().config.databaseUrl), TABLES, call);
  const scans = plans.flatMap(nodesOf).filter((node) => TABLES.includes(node["Relation Name"] ?? ""));
  const reads = scans.filter((node) => node["Node Type"].includes("Scan"));
  return {
    kinds: [...new Set(reads.map((node) => node["Node Type"]))],
    conditions: JSON.stringify(plans).match(/"Index Cond":"(?:[^"\\]|\\.)*"/g) ?? [],
    rows: reads.reduce((sum, node) => sum + rowsRead(node), 0),
    statements: plans.length,
  };
}

/** Checks that a call reads rows of its scope only, and at most so many. */
async function expectScoped(call: () => Promise<unknown>, rows: number): Promise<void> {
  const plan = await explain(call);
  expect(["Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Bitmap Index Scan"]).toEqual(
    expect.arrayContaining(plan.kinds),
  );
  expect(plan.conditions.length).toBeGreaterThan(0);
  for (const condition of plan.conditions) expect(condition).toMatch(/\((?:scope_id|postings_id|org_id|id) = /);
  expect(plan.rows).toBeGreaterThan(0);
  expect(plan.rows).toBeLessThanOrEqual(rows + LANGUAGES);
}

test("a search reads the row of its scope and the blocks of its words, and nothing of another scope", async () => {
  await expectScoped(() => scope.find("shared common"), 1 + 2 * BLOCKS);
  await expectScoped(() => scope.find("shared w7x absent"), 1 + BLOCKS + 1);
});

test("a search for a long query reads the counts of its words, and the postings of 16 of them", async () => {
  const query = Array.from({ length: 50 }, (_, index) => wordOf(index)).join(" ");
  await expectScoped(() => scope.find(query), 1 + 50 * BLOCKS + 16 * BLOCKS);
});

test("a search with typing errors and beginnings of words reads a range of the terms of its scope", async () => {
  // The words that begin with `q`, of which each is in two blocks.
  await expectScoped(() => scope.find("qxua", { typos: true }), 3 * 300 * BLOCKS + 10);
  await expectScoped(() => scope.find("shar", { prefix: true }), 3 * BLOCKS + 1);
});

test("removing texts reads the blocks of their words", async () => {
  await expectScoped(
    () => scope.transact((tx) => removeFromIndex(tx, scope.key, [{ ...sampleTexts[5]!, indexId: 5 }])),
    // Its four words are read and then changed.
    2 + 4 * 2,
  );
});
