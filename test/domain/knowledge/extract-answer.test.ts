import { expect, test } from "vitest";
import { extractAnswer, type FoundSentence } from "../../../domain/knowledge/extract-answer.ts";
import { QuestionCoverage } from "../../../domain/knowledge/question-coverage.ts";
import type { PassageHit } from "../../../domain/documents/search-passages.ts";
import { passageHit, questionWords } from "../../support/documents/passage-hit.ts";

/** Finds sentences with the words of a question, of which all count. */
async function find(question: string, hits: PassageHit[], { limit = 10, words = question } = {}) {
  return extractAnswer(question, new QuestionCoverage(await questionWords(words)), hits, limit)?.sentences ?? [];
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

test("a passage without one of the words that say most answers nothing, and one without a less rare word does", async () => {
  const [aaa, bbb] = await questionWords("aaa bbb");
  const answer = (weight: number) =>
    extractAnswer(
      "aaa bbb",
      new QuestionCoverage([
        { ...aaa!, weight: 10 },
        { ...bbb!, weight },
      ]),
      [passageHit("Aaa.")],
      1,
    );
  expect(answer(8)).toBeNull();
  expect(answer(7)).toBeNull();
  expect(answer(6)).toMatchObject({ sentences: [{ quote: "Aaa." }], confidence: "low" });
  expect(answer(2)).toMatchObject({ confidence: "low" });
  expect(answer(1)).toMatchObject({ confidence: "high" });
});

test("an answer to a question for a date is certain only with a number, and that of a list item is none", async () => {
  const coverage = new QuestionCoverage(await questionWords("aaa bbb"));
  const answer = (text: string) => extractAnswer("When is the aaa bbb?", coverage, [passageHit(text)], 1)?.confidence;
  expect(answer("The aaa bbb is on 1 May.")).toBe("high");
  expect(answer("The aaa bbb is in three months.")).toBe("high");
  expect(answer("The aaa bbb is a good day.")).toBe("low");
  expect(answer("The aaa bbb consists of: 1. a walk, 2) a talk.")).toBe("low");
});

test("an answer is certain when the sentence has what the question is about, and not when only its passage has", async () => {
  const answer = async (...hits: PassageHit[]) =>
    extractAnswer("aaa bbb", new QuestionCoverage(await questionWords("aaa bbb")), hits, 1)?.confidence;
  expect(await answer(passageHit("Aaa and bbb."))).toBe("high");
  expect(await answer(passageHit("Aaa.", { heading: "Bbb" }))).toBe("high");
  expect(await answer(passageHit("Aaa is here. Bbb is there."))).toBe("low");
  expect(await answer()).toBeUndefined();
});

test("code is quoted", async () => {
  expect(quotes(await find("aaa", [passageHit("```\naaa\n```\n\nNothing here. Nothing there.")]))).toEqual(["aaa"]);
});

test("a sentence that restricts the one beside it follows it, and is first when the question is what is allowed", async () => {
  const hit = passageHit("Fonts may be sold with software. Fonts cannot be sold by itself.");
  expect(quotes(await find("Where are fonts sold", [hit], { words: "fonts software sold" }))).toEqual([
    "Fonts may be sold with software.",
    "Fonts cannot be sold by itself.",
  ]);
  expect(quotes(await find("May fonts be sold?", [hit], { words: "fonts sold" }))[0]).toBe(
    "Fonts cannot be sold by itself.",
  );
});

test.each([
  ["How many aaa are there?", ["There are 12 aaa."]],
  ["What does aaa cost?", ["The aaa costs 5 euros."]],
  ["Where is aaa 1.2.3?", ["Version 1.2.3 has aaa."]],
])("%s is answered only with a number, a price or the version", async (question, expected) => {
  const content = "Nobody knows aaa. There are 12 aaa.\n\nThe aaa costs 5 euros.";
  const hits = [passageHit(content), passageHit("Version 1.2.3 has aaa.")];
  const found = quotes(await find(question, hits, { words: "aaa" }));
  expect(found).toContain(expected[0]);
  expect(found).not.toContain("Nobody knows aaa.");
});

test("the first sentence below a heading that asks the question is the answer", async () => {
  const hit = passageHit("Nothing is known. It is aaa.", { heading: "Aaa bbb ccc" });
  expect(quotes(await find("aaa bbb ccc", [hit]))).toContain("Nothing is known.");
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
