import { beforeAll, expect, test } from "vitest";
import type { KnowledgeAnswer } from "../../../domain/knowledge/search-knowledge.ts";
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
