import { expect, test } from "vitest";
import { MATCH_END, MATCH_START, toExcerpt as read } from "../../../server/drivers/transcript-search/read-hits.ts";

const toExcerpt = (marked: string) => read(marked.replaceAll(MATCH_START, "").replaceAll(MATCH_END, ""), marked);

const mark = (word: string) => `${MATCH_START}${word}${MATCH_END}`;

function matched(marked: string): string[] {
  const { text, matches } = toExcerpt(marked);
  return matches.map(({ start, end }) => text.slice(start, end));
}

test("an excerpt is the text without marks, with the places of the matches in UTF-16 code units", () => {
  expect(toExcerpt(`🧾 ${mark("Pay")} the ${mark("invoice")}.`)).toEqual({
    text: "🧾 Pay the invoice.",
    matches: [
      { start: 3, end: 6 },
      { start: 11, end: 18 },
    ],
  });
  expect(toExcerpt("No match")).toEqual({ text: "No match", matches: [] });
  expect(toExcerpt("")).toEqual({ text: "", matches: [] });
});

test("a long text is cut around its first match", () => {
  const marked = `${"x".repeat(5000)} ${mark("first")} ${"y".repeat(100)} ${mark("second")} ${"z".repeat(5000)} ${mark("third")}`;
  expect(toExcerpt(marked).text).toHaveLength(400);
  expect(matched(marked)).toEqual(["first", "second"]);
});

test("a cut text has no half of a surrogate pair", () => {
  for (const padding of ["", "x"]) {
    const { text, matches } = toExcerpt(`${padding}${"🧾".repeat(500)}${mark("word")}${"🧾".repeat(500)}`);
    expect([text.isWellFormed(), text.slice(matches[0]!.start, matches[0]!.end)]).toEqual([true, "word"]);
  }
});

test("a match that is longer than the excerpt is cut with it", () => {
  const { text, matches } = toExcerpt(mark("x".repeat(1000)));
  expect([text.length, matches]).toEqual([400, [{ start: 0, end: 400 }]]);
});

test("an excerpt has the characters of the text, also where the marked text has spaces instead", () => {
  expect(read("see notes.txt \u0001\u0002", `see ${mark("notes")} ${mark("txt")}   `)).toEqual({
    text: "see notes.txt \u0001\u0002",
    matches: [
      { start: 4, end: 9 },
      { start: 10, end: 13 },
    ],
  });
});
