import { beforeEach, expect, test } from "vitest";
import type { PassageHit } from "../../../domain/documents/search-passages.ts";
import { quoteByMeaning } from "../../../domain/knowledge/quote-by-meaning.ts";
import { QueryEmbedder } from "../../../domain/search/query-embedder.ts";
import { passageHit } from "../../support/documents/passage-hit.ts";
import { FakeEmbeddings } from "../../support/search/fake-embeddings.ts";

const QUESTION = "What is it?";

let embeddings: FakeEmbeddings;

beforeEach(() => {
  embeddings = new FakeEmbeddings();
});

const find = (hits: PassageHit[], limit = 10) =>
  quoteByMeaning(new QueryEmbedder({ embeddings, report: () => undefined }), "org-1", QUESTION, hits, limit);
const quotes = async (...hits: PassageHit[]) => (await find(hits)).map(({ quote }) => quote);

test("at most three of the sentences with the most similar meaning are found, the best first", async () => {
  const hit = passageHit("Cosine 0.85. Cosine 0.90. Cosine 0.84. Cosine 0.86. Cosine 0.87.", { similarity: 0.9 });
  const found = await find([hit]);
  expect(found).toEqual([
    { quote: "Cosine 0.90.", header: null, hit, score: expect.closeTo(0.9) },
    { quote: "Cosine 0.87.", header: null, hit, score: expect.closeTo(0.87) },
    { quote: "Cosine 0.86.", header: null, hit, score: expect.closeTo(0.86) },
  ]);
  expect(await find([hit], 1)).toHaveLength(1);
});

test("a sentence is found if it is similar enough, and nearly as similar as the best one", async () => {
  expect(await quotes(passageHit("Cosine 0.80. Cosine 0.71. Cosine 0.73.", { similarity: 0.9 }))).toEqual([
    "Cosine 0.80.",
    "Cosine 0.73.",
  ]);
  expect(await quotes(passageHit("Cosine 0.49. Cosine 0.50.", { similarity: 0.9 }))).toEqual(["Cosine 0.50."]);
  expect(await quotes(passageHit("Cosine 0.48. Cosine 0.49.", { similarity: 0.9 }))).toEqual([]);
});

test("the sentences of the three most similar passages are compared, with their title, headings and columns", async () => {
  const table = passageHit("| Car | Rate |\n| small | 10 |", {
    similarity: 0.6,
    documentTitle: "Cars",
    heading: "Rates",
  });
  const hits = [
    passageHit("Fourth.", { similarity: 0.5 }),
    table,
    passageHit("Found by its words.", { similarity: null }),
    passageHit("First. Second.", { similarity: 0.8, documentTitle: "Title" }),
    passageHit("Third.", { similarity: 0.7, documentTitle: "Title" }),
  ];
  await find(hits);
  expect(embeddings.calls.map(({ texts }) => texts)).toEqual([
    [QUESTION, "Title\n\nFirst.", "Title\n\nSecond.", "Title\n\nThird.", "Cars\nRates\nCar: small | Rate: 10"],
  ]);
});

test("at most 31 sentences are compared", async () => {
  const content = Array.from({ length: 40 }, (_, index) => `Number ${index}.`).join(" ");
  await find([passageHit(content, { similarity: 0.9 })]);
  expect(embeddings.calls[0]!.texts).toHaveLength(32);
  expect(embeddings.calls[0]!.texts.at(-1)).toContain("Number 30.");
});

test("without a passage that was found by its meaning, the endpoint is not asked", async () => {
  expect(await quotes(passageHit("Found by its words."))).toEqual([]);
  expect(await quotes()).toEqual([]);
  expect(embeddings.calls).toEqual([]);
});

test("without an endpoint, or when it does not respond, no sentence is found", async () => {
  const hit = passageHit("A sentence.", { similarity: 0.9 });
  expect(await quoteByMeaning(null, "org-1", QUESTION, [hit], 10)).toEqual([]);
  embeddings.beforeResponse = () => {
    throw new Error("unavailable");
  };
  expect(await quotes(hit)).toEqual([]);
  expect(embeddings.calls).toHaveLength(1);
});
