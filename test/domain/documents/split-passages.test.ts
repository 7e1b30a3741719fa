import fc from "fast-check";
import { expect, test } from "vitest";
import { findSentences } from "../../../domain/documents/find-sentences.ts";
import { splitPassages } from "../../../domain/documents/split-passages.ts";

const PARAGRAPH = "Everyone books the cheapest suitable train. Flights need an approval, e.g. by email. ".repeat(5);

function sentencesOf(text: string): string[] {
  return findSentences(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));
}

test("a passage has the headings above it, and stands literally in the document", () => {
  const text =
    "Intro\n\n# Travel\n\nBook early.\n\n## Trains ##\n\nUse **second** class.\n\n## Flights\n\n# Meals\n\nKeep receipts.";
  expect(splitPassages(text).map(({ heading, content }) => [heading, content])).toEqual([
    ["", "Intro"],
    ["Travel", "Book early."],
    ["Travel > Trains", "Use **second** class."],
    ["Travel > Flights", "## Flights"],
    ["Meals", "Keep receipts."],
  ]);
});

test("a heading can be underlined, and a line in a block of code is no heading", () => {
  const text = "Travel\n======\n\nBook early.\n\nTrains\n---\n\n```\n# comment\n```\n\n| a |\n---\n";
  expect(splitPassages(text).map(({ heading }) => heading)).toEqual(["Travel", "Travel > Trains"]);
});

test("a long section is split at paragraphs into passages of similar length", () => {
  const paragraphs = Array.from({ length: 10 }, (_, index) => `${index}. ${PARAGRAPH.trim()}`);
  const passages = splitPassages(`# Travel\n\n${paragraphs.join("\n\n")}`);
  expect(passages.map(({ content }) => content.split("\n\n").length)).toEqual([3, 3, 3, 1]);
  expect(passages.every(({ heading, content }) => heading === "Travel" && content.length <= 1500)).toBe(true);
});

test("a long paragraph is split at sentences", () => {
  const passages = splitPassages(PARAGRAPH.repeat(10).trim());
  expect(passages.length).toBeGreaterThan(2);
  for (const { content } of passages) expect(content).toMatch(/^(Everyone|Flights)[\s\S]*\.$/);
});

test("a sentence that is longer than a passage is split at spaces, and a word at characters", () => {
  for (const text of ["word ".repeat(2000).trim(), "x".repeat(5000), "😀".repeat(3000)]) {
    const passages = splitPassages(text);
    expect(passages.every(({ content }) => content.length <= 1500 && content.isWellFormed())).toBe(true);
    expect(
      passages
        .map(({ content }) => content)
        .join("")
        .replaceAll(" ", ""),
    ).toBe(text.replaceAll(" ", ""));
  }
});

test("every passage of any text stands at its offsets, and no word is lost", () => {
  const piece = fc.constantFrom(
    "# A\n",
    "## B\n",
    "\n",
    "text. ",
    "More text! ",
    "- item\n",
    "| a | b |\n",
    "```\n",
    PARAGRAPH,
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join("");
      const passages = splitPassages(text);
      let end = 0;
      for (const passage of passages) {
        expect(text.slice(passage.start, passage.end)).toBe(passage.content);
        expect(passage.start).toBeGreaterThanOrEqual(end);
        end = passage.end;
      }
      const words = (part: string) => part.match(/text|item|train|email/g)?.length ?? 0;
      expect(passages.reduce((sum, { content }) => sum + words(content), 0)).toBe(words(text));
    }),
  );
});

test("a text of two MiB is split completely", () => {
  const passages = splitPassages(PARAGRAPH.repeat(5000));
  expect(passages.reduce((sum, { content }) => sum + content.match(/email/g)!.length, 0)).toBe(25_000);
});

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
