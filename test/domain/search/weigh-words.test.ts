import { expect, test } from "vitest";
import { weighWords } from "../../../domain/search/weigh-words.ts";

const word = (text: string, ...terms: string[]) => ({ text, terms, otherTerms: [], isStopWord: false });

test("a word has its terms and those of similar words, and weighs more if few texts have it", () => {
  const weighed = weighWords(
    [
      { word: word("invoices", "invoic", "invoices"), count: 3, otherCount: 0, similar: [] },
      { word: word("refnd", "refnd"), count: 0, otherCount: 0, similar: [{ term: "refund", weight: 0.5 }] },
    ],
    9,
  );
  expect(weighed).toEqual([
    {
      text: "invoices",
      terms: new Set(["invoic", "invoices"]),
      isStopWord: false,
      isMissing: false,
      weight: expect.closeTo(Math.log(1 + 6.5 / 3.5), 10),
    },
    {
      text: "refnd",
      terms: new Set(["refnd", "refund"]),
      isStopWord: false,
      isMissing: true,
      weight: expect.closeTo(Math.log(20), 10),
    },
  ]);
});
