import { expect, test } from "vitest";
import { findSections } from "../../../domain/documents/find-sections.ts";

/** The paths and texts of the sections. */
const read = (text: string) => findSections(text).map(({ path, body }) => [path, text.slice(body.start, body.end)]);

/** The headings that are found in lines. */
function headingsOf(...lines: string[]): string[] {
  const sections = findSections(["Start", "", ...lines, "", "End"].join("\n"));
  return [...new Set(sections.flatMap(({ path }) => path))];
}

test("a heading belongs to the nearest one above it of a higher level", () => {
  const text = "# A\n\na\n\n### B\n\nb\n\n## C\n\nc\n\n### D\n\nd\n\n## E\n\ne\n\n# F\n\nf";
  expect(read(text)).toEqual([
    [["A"], "a"],
    [["A", "B"], "b"],
    [["A", "C"], "c"],
    [["A", "C", "D"], "d"],
    [["A", "E"], "e"],
    [["F"], "f"],
  ]);
});

test("a heading without a text is its own text, unless headings are below it", () => {
  expect(read("# A\n\n## B\n\n## C\n\n# D")).toEqual([
    [["A", "B"], "## B"],
    [["A", "C"], "## C"],
    [["D"], "# D"],
  ]);
  expect(read("# A\n\n# B\n\nb")).toEqual([
    [["A"], "# A"],
    [["B"], "b"],
  ]);
});

test("a text without headings is one section, and an empty text has none", () => {
  expect(read(" \n One\n\nTwo\n ")).toEqual([[[], "One\n\nTwo"]]);
  expect([read(""), read(" \n\n")]).toEqual([[], []]);
});

test("a heading has one to six number signs, a space and a title, after at most three spaces", () => {
  expect(headingsOf("# A", "   ###### B", "#\tC", "## D ##", "## E #\t", "# F#", "# #", "#  G", "# H # I")).toEqual([
    "A",
    "B",
    "C",
    "D",
    "E",
    "F#",
    "#",
    "G",
    "H # I",
  ]);
  expect(headingsOf("    # A", "####### B", "#C", "# ", "#", "x # D", "\\# E")).toEqual([]);
});

test("an underlined heading follows an empty line, and is underlined by at least three characters", () => {
  expect(headingsOf("A", "===", "", "  B b", "   ------ \t", "", "*C*", "---")).toEqual(["A", "B b"]);
  expect(headingsOf(" \t", "A", "===")).toEqual(["A"]);
  expect(read("---\n\nText")).toEqual([[[], "---\n\nText"]]);
  expect(headingsOf("Two lines", "of text", "---")).toEqual([]);
  expect(headingsOf("A", "--")).toEqual([]);
  expect(headingsOf("A", "=-=")).toEqual([]);
  expect(headingsOf("A", "--- x")).toEqual([]);
  expect(headingsOf("A", "    ---")).toEqual([]);
  expect(headingsOf("    A", "---")).toEqual([]);
  for (const mark of ["#", ">", "|", "*", "+", "-"]) expect(headingsOf(`${mark}A`, "---")).toEqual([]);
  expect(read("A\n===\na\n\nB\n---\nb\n\nC\n===\nc")).toEqual([
    [["A"], "a"],
    [["A", "B"], "b"],
    [["C"], "c"],
  ]);
});

test("lines in a block of code are not headings, until a fence of the same kind ends it", () => {
  for (const [open, other] of [
    ["```", "~~~"],
    ["~~~", "```"],
    ["`````", "```"],
    ["   ```ts", "~~~"],
  ] as const)
    expect(headingsOf(open, "# A", other, "# B", open.replace("ts", "").trim(), "# C")).toEqual(["C"]);
  expect(headingsOf("```", "# A", "`````", "# B")).toEqual(["B"]);
  expect(headingsOf("    ```", "# A")).toEqual(["A"]);
  expect(headingsOf("``", "# A")).toEqual(["A"]);
  expect(headingsOf("~~struck~~", "# A")).toEqual(["A"]);
  expect(headingsOf("text ```", "# A")).toEqual(["A"]);
  expect(headingsOf("```", "A", "---")).toEqual([]);
});

test("the title of a heading is without emphasis, and has at most 200 characters", () => {
  expect(headingsOf("# **Very** _important_ `code`", "# snake_case and 2 * 3", `# ${"x".repeat(201)}`)).toEqual([
    "Very important code",
    "snakecase and 2 * 3",
    "x".repeat(200),
  ]);
  expect(headingsOf("*Very* important", "====")).toEqual([]);
  expect(headingsOf("`Very` important  ", "====")).toEqual(["Very important"]);
});
