import { expect, test } from "vitest";
import { listSentences, nameCells } from "../../../domain/knowledge/list-sentences.ts";

const quotes = (content: string) => listSentences(content).map(({ quote }) => quote);
const headers = (content: string) => listSentences(content).map(({ quote, header }) => [quote, header]);

test.each([
  ["two sentences of a paragraph", "One is here. Two is there.", ["One is here.", "Two is there."]],
  ["a sentence with a line break", "One is\nhere.\n\nTwo.", ["One is\nhere.", "Two."]],
  ["the items of lists", "- one\n* two\n+ three\n12. four\n3) five", ["one", "two", "three", "four", "five"]],
  ["an item after two spaces", "-  one", ["one"]],
  ["a quotation", "> quoted", ["quoted"]],
  ["a heading", "### Title", ["Title"]],
  ["a number in front of a sentence", "2024 was good.", ["2024 was good."]],
  ["a negative number", "-5 degrees", ["-5 degrees"]],
  ["a word with a number sign", "#tag", ["#tag"]],
  ["more number signs than a heading has", "####### seven", ["####### seven"]],
  ["a dash inside of a sentence", "one - two", ["one - two"]],
  ["a line of dashes between paragraphs", "one\n\n---\n\n***\n\ntwo", ["one", "two"]],
  ["a sentence without Latin letters", "Где это?", ["Где это?"]],
  ["a sentence of digits", "42", ["42"]],
  ["a block of code", "before\n\n```\nlet a = 1;\n```\n\nafter", ["before", "let a = 1;", "after"]],
  ["a block of code between tildes", "~~~ sh\nls\n~~~\n\nafter", ["ls", "after"]],
  [
    "long code, by its lines",
    `\`\`\`\n${"a = 1;\n".repeat(2)}${"b".repeat(600)}\n\`\`\``,
    ["a = 1;", "a = 1;", "b".repeat(600)],
  ],
  ["tags of a site", "{% include a.html %}\n\n<Tabs>\n\n:::note\n\n{{< toc >}}\n\n[a]: http://b\n\nText.", ["Text."]],
  ["code and struck text in a paragraph", "``a`` is code.\n\n~~b~~ is struck.", ["``a`` is code.", "~~b~~ is struck."]],
  ["code at the end of a paragraph", "Write ```ls```", ["Write ```ls```"]],
])("%s", (_, content, expected) => {
  expect(quotes(content)).toEqual(expected);
});

test.each([
  ["a line of dashes", "| A | B |\n|---|---|\n| x | y |\n| z | - |"],
  ["a line of dashes with alignments", "| A | B |\n| :-- | --: |\n| x | y |\n| z | - |"],
])("the first row of a table names the columns of the others if %s follows", (_, content) => {
  expect(headers(content)).toEqual([
    ["| x | y |", "| A | B |"],
    ["| z | - |", "| A | B |"],
  ]);
});

test("the rows of a table need no spaces between the lines and the cells", () => {
  expect(headers("|A|B|\n|-|-|\n|x|1|\n|y|2|")).toEqual([
    ["|x|1|", "|A|B|"],
    ["|y|2|", "|A|B|"],
  ]);
});

test("without a line of dashes, the first row names the columns if it is the only one without a number", () => {
  const row = (cells: string) => [cells, "| Car | Rate |"];
  expect(headers("| Car | Rate |\n| small | 10 |\n| large | 20 |")).toEqual([
    row("| small | 10 |"),
    row("| large | 20 |"),
  ]);
});

test.each([
  ["has one row", ["| Car | Rate |"]],
  ["has a number in its first row", ["| Car | 2024 |", "| small | 10 |"]],
  ["has no number in one of the others", ["| Car | Rate |", "| small | 10 |", "| large | none |"]],
  ["has no number", ["| Kept | Reason |", "| yes | - |", "| no | - |"]],
])("a table that %s has no names of columns", (_, rows) => {
  expect(headers(rows.join("\n"))).toEqual(rows.map((row) => [row, null]));
});

test.each([
  ["a blank line", "\n\n"],
  ["a line of spaces", "\n  \n"],
])("two tables with %s between them have their own names of columns", (_, between) => {
  const first = "| A | B |\n|---|---|\n| 1 | 2 |";
  const second = "| C | D |\n|---|---|\n| 3 | 4 |";
  expect(headers(first + between + second)).toEqual([
    ["| 1 | 2 |", "| A | B |"],
    ["| 3 | 4 |", "| C | D |"],
  ]);
});

test("sentences and the rows of tables are in the order of the text", () => {
  expect(headers("Before.\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\nBetween.\n\n| C | 3 |\n\n- after")).toEqual([
    ["Before.", null],
    ["| 1 | 2 |", "| A | B |"],
    ["Between.", null],
    ["| C | 3 |", null],
    ["after", null],
  ]);
});

test.each([
  ["| Small | 10 |", "| Car | Rate |", "Car: Small | Rate: 10"],
  ["|Small|10|", "|  Car |Rate|", "Car: Small | Rate: 10"],
  ["Small | 10", "Car | Rate", "Car: Small | Rate: 10"],
  ["| Small | 10 |", "| | Rate |", "Small | Rate: 10"],
  ["| Small | 10 | now |", "| Car | Rate |", "| Small | 10 | now |"],
])("the cells of %s below %s are named", (quote, header, named) => {
  expect(nameCells({ quote, header })).toBe(named);
});

test("a sentence without names of columns stays as it is", () => {
  expect(nameCells({ quote: "| Small | 10 |", header: null })).toBe("| Small | 10 |");
});

test.each([
  [
    "a question and its answer in one line",
    "**Q:** How much is it? **A:** 49 euros.",
    [["49 euros.", "How much is it?"]],
  ],
  [
    "a marked question above its answer",
    "Q: Where?\nA: Here. Now.",
    [
      ["Here.", "Where?"],
      ["Now.", "Where?"],
    ],
  ],
  ["a question in bold above its answer", "**How do I leave?**\nWrite to us.", [["Write to us.", "How do I leave?"]]],
  ["a question as a paragraph", "How do I leave?\n\nWrite to us.", [["Write to us.", "How do I leave?"]]],
  [
    "a question without an answer",
    "Why?\n\n> Who?",
    [
      ["Why?", null],
      ["Who?", null],
    ],
  ],
  [
    "a list that answers a question",
    "What do I need?\n\n- a pen\n- ink",
    [
      ["a pen\n- ink", "What do I need?"],
      ["a pen", "What do I need?"],
      ["ink", "What do I need?"],
    ],
  ],
  [
    "definitions",
    "Apple\n: A fruit.\n: A company.",
    [
      ["A fruit.", "Apple"],
      ["A company.", "Apple"],
    ],
  ],
  ["a line in bold above a paragraph", "**Fees**\n\nTen euros.", [["Ten euros.", "Fees"]]],
  [
    "a line above a list",
    "You pay:\n\n- 5 for adults\n- 2 for:\n  - children",
    [
      ["You pay:\n\n- 5 for adults\n- 2 for:\n  - children", null],
      ["5 for adults", "You pay:"],
      ["2 for:\n  - children", "You pay:"],
      ["children", "2 for:"],
    ],
  ],
  ["a line above code", "Deploy with:\n\n```sh\nkubectl apply\n```", [["kubectl apply", "Deploy with:"]]],
])("%s belong together", (_, content, expected) => {
  expect(headers(content)).toEqual(expected);
});

test.each([
  ["49 euros.", "How much is it?", "49 euros."],
  ["A fruit.", "Apple", "Apple: A fruit."],
  ["5 for adults", "You pay:", "You pay: 5 for adults"],
])("%s below %s is shown as %s", (quote, header, shown) => {
  expect(nameCells({ quote, header })).toBe(shown);
});

test("a table needs no lines at its sides", () => {
  expect(headers("A | B\n--- | ---\nx | 1")).toEqual([["x | 1", "A | B"]]);
});
