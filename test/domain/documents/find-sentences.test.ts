import { expect, test } from "vitest";
import { findSentences, trimRange } from "../../../domain/documents/find-sentences.ts";

function sentencesOf(text: string): string[] {
  return findSentences(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));
}

test("an abbreviation and a line break end no sentence", () => {
  expect(sentencesOf("Ask Dr. Lee, e.g. by email.\nIt costs\n4.50 EUR. Why? Approx. 3 days (incl. Sunday).")).toEqual([
    "Ask Dr. Lee, e.g. by email.",
    "It costs\n4.50 EUR.",
    "Why?",
    "Approx. 3 days (incl. Sunday).",
  ]);
});

test("the numbers of footnotes belong to the sentence before them", () => {
  expect(sentencesOf("It grew.[114] In 2016, it joined (as a member).[2][3] See version 2 [5] there. Why?[6]")).toEqual(
    ["It grew.[114]", "In 2016, it joined (as a member).[2][3]", "See version 2 [5] there.", "Why?[6]"],
  );
});

test("a sentence can begin and end with an abbreviation", () => {
  expect(sentencesOf("Dr. Lee came. Ask (Mr. Day) or \"Mrs. Day\" or 'Prof. Oh'. He left.")).toEqual([
    "Dr. Lee came.",
    "Ask (Mr. Day) or \"Mrs. Day\" or 'Prof. Oh'.",
    "He left.",
  ]);
  expect(sentencesOf("It was Acme Ltd. ")).toEqual(["It was Acme Ltd."]);
  expect(sentencesOf("That was the climax. He left.")).toEqual(["That was the climax.", "He left."]);
});

test("numbers in brackets are footnotes only after the end of a sentence, with at most four digits", () => {
  expect(sentencesOf('He said "Go!"[1] She (left.)[23] Now?[4567] Yes.')).toEqual([
    'He said "Go!"[1]',
    "She (left.)[23]",
    "Now?[4567]",
    "Yes.",
  ]);
});

test("sentences are found in a part of a text, without the spaces around them", () => {
  expect(findSentences("xx One.  Two. yy", { start: 3, end: 14 })).toEqual([
    { start: 3, end: 7 },
    { start: 9, end: 13 },
  ]);
  expect(findSentences(" \n ", { start: 0, end: 3 })).toEqual([]);
  expect(trimRange("x \n a b ", { start: 1, end: 8 })).toEqual({ start: 4, end: 7 });
});
