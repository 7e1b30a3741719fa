import { beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { discoveredProcedure, givenProcedures } from "../support/edge/live-app.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let gateway: GatewayClient;
let projectId: string;

const TEXT = "The ferry to Svolvaer departs from pier 7.";

/** The searches of the tool gateway, and where their results are. */
const SEARCHES = [
  { tool: "company_knowledge_search", results: "citations" },
  { tool: "project_search", results: "hits" },
  { tool: "memory_recall", results: "memories" },
  { tool: "service_docs_search", results: "hits" },
] as const;

beforeAll(async () => {
  const tenant = await service().tenant();
  gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
  const project = await tenant.rest.post("/v1/projects", { name: "Ferries", kind: "client" });
  projectId = String(project.body["project_id"]);
  const document = { title: "Ferries", content: TEXT };
  await tenant.rest.post("/v1/knowledge/documents", { kind: "faq", ...document });
  await tenant.rest.post(`/v1/projects/${projectId}/documents`, document);
  await gateway.tool("memory_write", { content: TEXT, kind: "fact" });
  const app = await service().givenApp(tenant, { name: "ferries" });
  await givenProcedures(service(), app, [discoveredProcedure("departures", "query", { description: TEXT })]);
});

const search = (tool: string, query: string) =>
  gateway.tool(tool, { query, ...(tool === "project_search" && { project_id: projectId }) });

/** 240 different words that no text has, and a question after them. */
const LONG = `${Array.from({ length: 240 }, (_, at) => `zq${at}x`).join(" ")} When does the ferry to Svolvaer depart? `;

const FINDING: [what: string, query: string][] = [
  ["words of the text", "svolvaer ferry"],
  ["words with NUL", "svolvaer\0ferry"],
  ["words with an unpaired surrogate", "svolvaer \uD800 ferry"],
  ["10,000 characters", LONG.repeat(20).slice(0, 10_000)],
];

const MISSING: [what: string, query: string][] = [
  ["stop words only", "the of and"],
  ["punctuation", "???"],
  ["an injection of SQL", "' OR 1=1"],
  ["a second SQL statement", "'; drop table memories; --"],
  ["operators of full text search", "a & b | !c <-> d:*"],
  ["an open quotation mark and an open parenthesis", '"unbalanced ('],
  ["a backslash", "\\"],
  ["wildcards of SQL", "%_"],
  ["emoji", "☕️"],
  ["mathematical letters", "𝕔𝕠𝕗𝕗𝕖𝕖"],
  ["an override of the text direction", "\u202ecoffee"],
  ["a word of 10,000 letters", "x".repeat(10_000)],
  ["10,000 characters of words that no text has", "gxqz pwvj kfhy ".repeat(666)],
];

for (const { tool, results } of SEARCHES) {
  test.each(FINDING)(`${tool} finds the text with %s`, async (_, query) => {
    const { isError, text, structuredContent } = await search(tool, query);
    expect([isError, text]).toEqual([false, expect.any(String)]);
    expect(structuredContent[results]).toHaveLength(1);
  });

  test.each(MISSING)(`${tool} finds nothing with %s`, async (_, query) => {
    const { isError, structuredContent } = await search(tool, query);
    expect([isError, structuredContent[results]]).toEqual([false, []]);
  });

  test(`${tool} accepts the letters of every script`, async () => {
    for (const query of queriesOfAllLetters()) {
      const { isError, structuredContent } = await search(tool, query);
      expect([isError, structuredContent[results]]).toEqual([false, expect.any(Array)]);
    }
  });

  test.each([
    ["an empty query", "", 0],
    ["spaces", " \n ", 0],
    ["NUL only", "\0", 0],
    ["10,001 characters", "x".repeat(10_001), 10_001],
  ])(`${tool} refuses %s`, async (_, query, length) => {
    const { isError, text } = await search(tool, query);
    expect([isError, text]).toEqual([true, expect.stringContaining(`query: has ${length} characters, and 1 to 10000`)]);
  });
}

test("project_search finds the text with a mistyped word", async () => {
  const { structuredContent } = await search("project_search", "svolvaar");
  expect(structuredContent["hits"]).toHaveLength(1);
});

/** Queries of at most 10,000 characters that together have all letters of Unicode, in words of eight. */
function queriesOfAllLetters(): string[] {
  const letters = Array.from({ length: 0x1_10000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((letter) => /[\p{L}\p{M}\p{N}]/u.test(letter));
  const words = letters.flatMap((_, at) => (at % 8 === 0 ? letters.slice(at, at + 8).join("") : []));
  const queries: string[] = [];
  for (let at = 0; at < words.length; at += 588) queries.push(words.slice(at, at + 588).join(" "));
  return queries;
}
