import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findUnits, splitPassages } from "../../../domain/documents/split-passages.ts";

const PARAGRAPH = "Everyone books the cheapest suitable train. Flights need an approval, e.g. by email. ".repeat(5);

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

test("a heading can be underlined, and a line in a block of code is not a heading", () => {
  const text = "Travel\n======\n\nBook early.\n\nTrains\n---\n\n```\n# comment\n```\n\n| a |\n---\n";
  expect(splitPassages(text).map(({ heading }) => heading)).toEqual(["Travel", "Travel > Trains"]);
});

test("a long section is split at paragraphs into passages of similar length", () => {
  const paragraphs = Array.from({ length: 10 }, (_, index) => `${index}. ${PARAGRAPH.trim()}`);
  const passages = splitPassages(`# Travel\n\n${paragraphs.join("\n\n")}`);
  expect(passages.map(({ content }) => content.split("\n\n").length)).toEqual([3, 3, 3, 1]);
  expect(passages.every(({ heading, content }) => heading === "Travel" && content.length <= 1500)).toBe(true);
});

test("the length of passages does not depend on where their section begins", () => {
  const section = Array.from({ length: 16 }, () => "x".repeat(100)).join("\n\n");
  for (const before of ["", "y".repeat(1400)]) {
    const passages = splitPassages(`${before}\n\n# Travel\n\n${section}`).filter(({ heading }) => heading === "Travel");
    expect(passages.map(({ content }) => content.split("\n\n").length)).toEqual([9, 7]);
  }
});

test("a long paragraph is split at sentences", () => {
  const passages = splitPassages(PARAGRAPH.repeat(10).trim());
  expect(passages.length).toBeGreaterThan(2);
  for (const { content } of passages) expect(content).toMatch(/^(Everyone|Flights)[\s\S]*\.$/);
});

test("a sentence that is longer than a passage is split at spaces, and a word at characters", () => {
  for (const text of ["word ".repeat(2000).trim(), "x".repeat(5000), "😀".repeat(3000), `x${"😀".repeat(3000)}`]) {
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

describe("a unit of a text", () => {
  const unitsOf = (...lines: string[]) => {
    const text = lines.join("\n");
    return findUnits(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));
  };

  test("is a paragraph of several lines", () => {
    expect(unitsOf("One", "two", "", " \t", "  Three", "four  ")).toEqual(["One\ntwo", "Three\nfour"]);
    expect(unitsOf("", " ")).toEqual([]);
    expect(unitsOf("", "One", " \t", "Two")).toEqual(["One", "Two"]);
  });

  test("is an item of a list with its lines, or a row of a table", () => {
    const items = ["- a", "* b", "  + c", "1. d", "123456789) e", "| f | g |", "|", "-"];
    expect(unitsOf("Before", ...items.flatMap((item) => [item, "more"]))).toEqual([
      "Before",
      ...items.map((item) => `${item.trim()}\nmore`),
    ]);
    const text = ["Text", "-a", "1.5 b", "1234567890. c", "a - b", "x1. d"];
    expect(unitsOf(...text)).toEqual([text.join("\n")]);
  });

  test("is a block of code with its empty lines and items", () => {
    for (const [open, close] of [
      ["```", "```"],
      ["   ~~~~ts", "~~~"],
    ] as const)
      expect(unitsOf("Before", open, "", "- a", "# b", close, "after", "- c")).toEqual([
        "Before",
        [open, "", "- a", "# b", close].join("\n").trim(),
        "after",
        "- c",
      ]);
    expect(unitsOf("```", "a", "", "b")).toEqual(["```\na\n\nb"]);
    expect(unitsOf("~~struck~~", "", "text")).toEqual(["~~struck~~", "text"]);
    expect(unitsOf("Text", "``", "    ```", "text")).toEqual(["Text\n``\n    ```\ntext"]);
  });

  test("is found only within the range", () => {
    const text = "One\n\nTwo\nthree\n\nFour";
    expect(findUnits(text, { start: 5, end: 11 })).toEqual([{ start: 5, end: 11 }]);
  });
});

test("a section of 1,500 characters is one passage, and of a longer one no passage is longer", () => {
  const paragraphs = (...lengths: number[]) => lengths.map((length) => "x".repeat(length)).join("\n\n");
  const lengthsOf = (text: string) => splitPassages(text).map(({ content }) => content.length);
  expect(lengthsOf(paragraphs(749, 749))).toEqual([1500]);
  expect(lengthsOf(paragraphs(750, 749))).toEqual([750, 749]);
  expect(lengthsOf(paragraphs(1500, 10))).toEqual([1500, 10]);
  expect(lengthsOf(paragraphs(100, 1400, 100))).toEqual([100, 1400, 100]);
  expect(lengthsOf(paragraphs(100, 1398, 100))).toEqual([1500, 100]);
  expect(lengthsOf(paragraphs(800, 300, 496))).toEqual([800, 798]);
  expect(lengthsOf(`${"Abcd. ".repeat(249)}Abcde.\n\nNext`)).toEqual([1500, 4]);
  expect(lengthsOf(`X${"x".repeat(1400)} ${"y".repeat(97)}. Next one.`)).toEqual([1500, 9]);
  expect(lengthsOf("x".repeat(1501))).toEqual([1500, 1]);
  expect(lengthsOf(`${"x".repeat(1499)} y`)).toEqual([1499, 1]);
  expect(lengthsOf(`${"x".repeat(1500)} y`)).toEqual([1500, 2]);
  expect(lengthsOf(`x ${"y".repeat(1500)}`)).toEqual([1, 1500]);
});

test("a text with too many headings is split regardless of them, and no word is lost", () => {
  const text = Array.from({ length: 100_000 }, (_, index) => `# h${index}`).join("\n");
  const passages = splitPassages(text);
  expect(passages.length).toBeLessThan(1000);
  expect(passages.every(({ heading, content }) => heading === "" && content.length <= 1500)).toBe(true);
  expect(passages.flatMap(({ content }) => content.split(/\s/))).toEqual(text.split(/\s/));
});

test("a document has a passage for each heading up to the limit", () => {
  const sections = (count: number) => Array.from({ length: count }, (_, index) => `# h${index}\n\nText.`).join("\n\n");
  expect(splitPassages(sections(5000))).toHaveLength(5000);
  expect(splitPassages(sections(5001)).length).toBeLessThan(5000);
});
