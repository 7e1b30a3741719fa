import { expect, test } from "vitest";
import { extractAnswer, type FoundSentence } from "../../../domain/knowledge/extract-answer.ts";
import { QuestionCoverage } from "../../../domain/knowledge/question-coverage.ts";
import type { PassageHit } from "../../../domain/documents/search-passages.ts";
import { passageHit, questionWords } from "../../support/documents/passage-hit.ts";

/** Finds sentences with the words of a question, of which all count. */
async function find(question: string, hits: PassageHit[], { limit = 10, words = question } = {}) {
  return extractAnswer(question, new QuestionCoverage(await questionWords(words)), hits, limit);
}
const quotes = (found: FoundSentence[]) => found.map(({ quote }) => quote);

test("the sentence with the most words of the question is first", async () => {
  const hit = passageHit("The invoice is late. A late refund of an invoice. The weather is good.");
  const found = await find("late invoice refund", [hit]);
  expect(found).toEqual([{ quote: "A late refund of an invoice.", header: null, hit, score: 1 - 0.01 }]);
});

test("a further sentence covers at least 70 % of what the first one covers", async () => {
  const content = "Aaa bbb ccc ddd. Aaa bbb ccc eee. Aaa bbb fff.";
  expect(quotes(await find("aaa bbb ccc ddd", [passageHit(content)]))).toEqual([
    "Aaa bbb ccc ddd.",
    "Aaa bbb ccc eee.",
  ]);
  expect(await find("aaa bbb ccc ddd", [passageHit(content)], { limit: 1 })).toHaveLength(1);
});

test("of a passage that covers too little of the question, no sentence is found", async () => {
  const question = "aaa bbb ccc ddd eee";
  expect(await find(question, [passageHit("Aaa bbb.")])).toEqual([]);
  expect(quotes(await find(question, [passageHit("Aaa bbb ccc.")]))).toEqual(["Aaa bbb ccc."]);
  const hits = [passageHit("Aaa bbb."), passageHit("Ccc ddd eee. Ccc only.")];
  expect(quotes(await find(question, hits))).toEqual(["Ccc ddd eee."]);
});

test("a passage with too few words for its questions is left out, and one with just enough is not", async () => {
  const words = (await questionWords("aaa bbb")).map((word, index) => ({ ...word, weight: index === 0 ? 9 : 11 }));
  const hits = [passageHit("Aaa.")];
  expect(quotes(extractAnswer("aaa bbb", new QuestionCoverage(words), hits, 1))).toEqual(["Aaa."]);
});

test("a passage that has the words of the question only in a block of code answers nothing", async () => {
  expect(await find("aaa", [passageHit("```\naaa\n```\n\nNothing here. Nothing there.")])).toEqual([]);
  expect(await find("aaa", [])).toEqual([]);
});

test("of equally good sentences, those of the better passage are first, and then those that are earlier", async () => {
  const worse = passageHit("Aaa one. Aaa two.", { score: 4 });
  const better = passageHit("Aaa three. Aaa four.", { score: 5 });
  const found = await find("aaa", [worse, better]);
  expect(quotes(found)).toEqual(["Aaa three.", "Aaa four.", "Aaa one.", "Aaa two."]);
  for (const [index, score] of [1, 0.99, 0.9, 0.89].entries()) expect(found[index]!.score).toBeCloseTo(score);
});

test("the position in a passage counts up to the tenth sentence", async () => {
  const content = Array.from({ length: 14 }, (_, index) => `Aaa number${index}x.`).join(" ");
  const found = await find("aaa", [passageHit(content)], { limit: 20 });
  expect(found.map(({ score }) => Math.round(score * 100))).toEqual([
    100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 91, 91, 91, 91,
  ]);
});

test("a sentence of a passage far below the best one is not found", async () => {
  const hits = [passageHit("Aaa one.", { score: 10 }), passageHit("Aaa two.", { score: 1 })];
  expect(quotes(await find("aaa", hits))).toEqual(["Aaa one."]);
});

test.each([
  ["When is aaa?", true],
  ["How long is aaa?", true],
  ["the price", true],
  ["What is aaa?", false],
  ["Show aaa", false],
])("%s asks for a number, so that a sentence with one is preferred: %s", async (question, isPreferred) => {
  const words = "aaa bbb ccc";
  const hit = passageHit("Aaa bbb. Ccc aaa 5.");
  const [first] = await find(question, [hit], { words });
  expect(first!.quote).toBe(isPreferred ? "Ccc aaa 5." : "Aaa bbb.");
});

test("the score of a sentence is at most 1, also with a number", async () => {
  const [found] = await find("when aaa", [passageHit("Aaa 5.")], { words: "aaa" });
  expect(found!.score).toBe(1);
});

test("a sentence that several documents have is found once, in the best passage", async () => {
  const hits = [
    passageHit("Aaa bbb.", { documentId: "second", score: 9 }),
    passageHit("Aaa bbb. Aaa ccc.", { documentId: "first", score: 10 }),
  ];
  const found = await find("aaa bbb", hits);
  expect(found.map(({ quote, hit }) => [quote, hit.documentId])).toEqual([["Aaa bbb.", "first"]]);
  expect(quotes(await find("aaa", hits))).toEqual(["Aaa bbb.", "Aaa ccc."]);
});
