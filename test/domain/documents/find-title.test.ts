import { expect, test } from "vitest";
import { findTitle, titleOfFile } from "../../../domain/documents/find-title.ts";
import { findFrontMatter } from "../../../domain/documents/front-matter.ts";
import { splitPassages } from "../../../domain/documents/split-passages.ts";

test.each([
  ["YAML", "---\nlayout: page\ntitle: Travel policy # of 2026\n---\n\n# Trains\n", "Travel policy"],
  ["YAML in quotes", '---\ntitle: "Travel: \\"rules\\""\n---\nText', 'Travel: "rules"'],
  ["YAML in several lines", "---\ntitle: >-\n  Travel\n  policy\nx: 1\n---\nText", "Travel policy"],
  ["TOML", '+++\ntitle = "Travel policy"\n+++\nText', "Travel policy"],
  ["YAML without a title", "---\nlayout: page\n---\n\n# Trains\n\nText", "Trains"],
  ["a rule and no front matter", "---\n\nText\n\n---\n\n# Trains\n\nText", "Trains"],
])("the title is that of the front matter: %s", (_, text, title) => {
  expect(findTitle(text, "a.md")).toBe(title);
});

test.each([
  ["the only heading of its level", "[Badge](x)\n\n# Handbook\n\nText\n\n## The basics\n\nText", "a.md", "Handbook"],
  ["the first of several sections", "# The basics\n\nText\n\n# Further\n\nText", "leave.md", null],
  [
    "a heading with a word of the file name",
    "# Leave and pay\n\nText\n\n# Further\n\nText",
    "leave.md",
    "Leave and pay",
  ],
  ["a heading with nothing below it", "# Handbook\n\n# The basics\n\nText", "a.md", "Handbook"],
  ["a small heading", "### Note\n\nText", "a.md", null],
  ["a link in a heading", "# The [handbook](https://example.com) {#top}\n\nText", "a.md", "The handbook"],
])("the first heading is the title of the document: %s", (_, text, fileName, title) => {
  expect(findTitle(text, fileName)).toBe(title);
});

test("the name of a file is a title, and that of its folder for an index", () => {
  expect(["hr/travel_policy.pdf", "hr/travel/README.md", "index.md", "b/_index.md"].map(titleOfFile)).toEqual([
    "Travel policy",
    "Travel",
    "Index",
    "B",
  ]);
});

test("front matter is in no passage, unless it is the whole text", () => {
  const text = "---\ntitle: A\ndate: 2026-01-01\n---\n\n# B\n\nText.\n";
  expect(splitPassages(text).map(({ heading, content }) => [heading, content])).toEqual([["B", "Text."]]);
  expect(findFrontMatter("---\ntitle: A\n---\n")).toBeNull();
});

test("the rows of a table that fits into a passage are not divided", () => {
  const table = ["| A | B |", "|---|---|", ...Array.from({ length: 60 }, (_, n) => `| row ${n} | ${n} |`)].join("\n");
  const text = `${"One sentence is here. ".repeat(60)}\n\n${table}\n\n${"One sentence is here. ".repeat(20)}`;
  const rows = splitPassages(text).filter(({ content }) => content.includes("| row"));
  expect(rows).toHaveLength(1);
  expect(rows[0]?.content).toContain("| A | B |");
});
