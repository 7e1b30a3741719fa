import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { readCounts, readPostings, selectRareWords } from "../../../domain/search/read-postings.ts";
import { sampleText as text, TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const db = () => service().service.parts.db;
const word = (...terms: string[]) => ({ text: terms.join(), terms, otherTerms: [], isStopWord: false });

/** Stores postings that only have counts, and returns the id of their scope, which no scope of a test has. */
async function countsOf(counts: Record<string, number[]>): Promise<number> {
  const scopeId = -randomInt(1_000_000, 2_000_000);
  const rows = Object.entries(counts).flatMap(([term, blocks]) =>
    blocks.map((count, block) => ({ scope_id: scopeId, term, block, count, data: Buffer.alloc(0) })),
  );
  await db().insertInto("search_postings").values(rows).execute();
  return scopeId;
}

test("the postings of terms are those of all blocks of the scope", async () => {
  const [scope, other] = [new TestScope(service), new TestScope(service)];
  await scope.add(...Array.from({ length: 4100 }, () => text("refund")), text("invoice"));
  await other.add(text("refund card"));
  const { id } = (await scope.readRows()).scope!;
  const found = await readPostings(db(), id, ["refund", "invoic", "card"]);
  expect([...found.keys()].toSorted()).toEqual(["invoic", "refund"]);
  const { count, blocks } = found.get("refund")!;
  expect(count).toBe(4100);
  expect(blocks.toSorted((a, b) => a.block - b.block).map(({ block, data }) => [block, data.length])).toEqual([
    [0, 4 * 4096],
    [1, 4 * 4],
  ]);
  expect(found.get("invoic")).toMatchObject({ count: 1, blocks: [{ block: 1 }] });
  expect(await readPostings(db(), id, [])).toEqual(new Map());
  expect(await readCounts(db(), id, ["refund", "card"])).toEqual(new Map([["refund", 4100]]));
});

test("of the words of a query, the rarest ones that a text has are selected, by all of their terms", async () => {
  const id = await countsOf({ a: [7, 2], b: [3], c: [4], d: [1], e: [50] });
  const words = [word("a"), word("b", "c"), word("absent"), word("d", "e"), word("d")];
  const { counted, rare } = await selectRareWords(db(), id, words, 3);
  expect(counted).toEqual([9, 7, 0, 51, 1].map((count, index) => ({ word: words[index], count, otherCount: 0 })));
  expect(rare).toEqual([word("d"), word("b", "c"), word("a")]);
});

test("words with more than 200,000 postings are not selected, except for the rarest word", async () => {
  const words = [word("a"), word("b"), word("c")];
  const select = async (counts: Record<string, number[]>) =>
    (await selectRareWords(db(), await countsOf(counts), words, 16)).rare.map(({ text: key }) => key);
  expect(await select({ a: [150_000, 50_000], b: [300_000], c: [400_000] })).toEqual(["a"]);
  expect(await select({ a: [300_000], b: [300_001], c: [300_002] })).toEqual(["a"]);
  expect(await select({ a: [50_000], b: [150_000], c: [200_000] })).toEqual(["a", "b"]);
});
