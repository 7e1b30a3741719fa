import { beforeAll, expect, test } from "vitest";
import { type KnowledgeAnswer, toAnswerSentence } from "../../../domain/knowledge/search-knowledge.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;

const DOCUMENTS = [
  "# Expense policy\n\n## Travel\n\n| Class of car | Rate per mile |\n| Electric | $0.55 |\n| Petrol | $0.67 |",
  "# Rental\n\n| Machine | 12 months | 36 months |\n|---|---|---|\n| Silento | 189 | 149 |\n| Brava | 239 | 199 |",
  "# Support\n\n| Uptime | 99.9 percent |\n| Hotline | every day |\n\nThe archive keeps tickets for nine years.[12] Nobody reads them.",
];

beforeAll(async () => {
  tenant = await service().tenant();
  for (const content of DOCUMENTS) await tenant.rest.post("/v1/knowledge/documents", { kind: "policy", content });
});

async function ask(query: string): Promise<KnowledgeAnswer> {
  const path = `/v1/knowledge/search?limit=1&query=${encodeURIComponent(query)}`;
  return (await tenant.rest.get(path)).body as unknown as KnowledgeAnswer;
}

test.each([
  [
    "the row of a table, with the names of its columns",
    "What is the rate per mile for electric cars?",
    "Class of car: Electric | Rate per mile: $0.55 [1]",
    "| Electric | $0.55 |",
  ],
  [
    "the row of a table in Markdown",
    "What does Brava cost for 36 months?",
    "Machine: Brava | 12 months: 239 | 36 months: 199 [1]",
    "| Brava | 239 | 199 |",
  ],
  [
    "the first row of a table without names of columns",
    "What is the uptime?",
    "Uptime | 99.9 percent [1]",
    "| Uptime | 99.9 percent |",
  ],
  [
    "a sentence without the number of its footnote",
    "How long does the archive keep tickets?",
    "The archive keeps tickets for nine years [1]",
    "The archive keeps tickets for nine years.[12]",
  ],
])("the answer is %s, and the quote stands in the document", async (_, question, answer, quote) => {
  const found = await ask(question);
  expect([found.answer, found.citations.map((citation) => citation.quote)]).toEqual([answer, [quote]]);
  expect(DOCUMENTS.join("\n")).toContain(quote);
});

test.each([
  ["of several lines", "One\n  two\tthree.", "One two three"],
  ["with spaces around it", "  One.  ", "One"],
  ["with a link", "See [the page](https://example.com/a) now.", "See the page now"],
  ["with two links", "[a](b) and [c](d)", "a and c"],
  ["with an image", "![A plan](plan.png) is here.", "A plan is here"],
  ["with brackets beside parentheses", "[a] (b) and [c](d e)", "[a] (b) and [c](d e)"],
  ["with bold text", "A **very bold** word and **another one**.", "A very bold word and another one"],
  ["with a bold letter", "**A** is first", "A is first"],
  ["with underlined text and code", "__Run__ `npm ci` now", "Run npm ci now"],
  ["with single marks", "2 ** 3 and a `quote", "2 ** 3 and a `quote"],
  ["with different marks", "**a__ and `b**", "a__ and `b"],
  ["with spaces inside of the marks", "a ** b ** c", "a ** b ** c"],
  ["with a footnote", "Nine years.[12]", "Nine years"],
  ["with several footnotes", "Nine years.[1][1234]", "Nine years"],
  ["with a footnote after a quotation", 'He said "no."[3]', 'He said "no."'],
  ["with a footnote after a question", "Why not?[3]", "Why not?"],
  ["with a footnote without a point", "Nine years [3]", "Nine years (3)"],
  ["with a footnote in the middle", "Nine years.[1] Then none.", "Nine years.(1) Then none"],
  ["with a long number in brackets", "Nine years.[12345]", "Nine years.(12345)"],
  ["with numbers in brackets", "As in [1], [6,7] and [2, 34 , 5].", "As in (1), (6,7) and (2, 34 , 5)"],
  ["with a word in brackets", "As in [a1] and [1b].", "As in [a1] and [1b]"],
  ["in a row of a table", "| One | two |", "One | two"],
  ["in a row without spaces", "|One|two|", "One|two"],
  ["in a row with more spaces", "|  One | two  |", "One | two"],
  ["with other marks at its end", "As follows:", "As follows"],
  ["with several marks at its end", "And so on...;,", "And so on"],
  ["with a question mark", "Why?", "Why?"],
  ["with a point inside", "In 1.5 hours", "In 1.5 hours"],
])("a sentence %s", (_, markdown, sentence) => {
  expect(toAnswerSentence(markdown)).toBe(sentence);
});
