import assert from "node:assert/strict";
import { loadavg } from "node:os";
import { queryBuilderOf } from "../domain/database-types.ts";
import { type KnowledgeAnswer, searchKnowledge } from "../domain/knowledge/search-knowledge.ts";
import type { Caller } from "../domain/shared/caller.ts";
import { FairQueue } from "../domain/shared/fair-queue.ts";
import { openDatabase } from "../server/database/open-database.ts";
import { createLogger } from "../server/telemetry/logger.ts";
import { readCompanyCollection } from "./search-quality/company-collection.ts";
import { SamplePassages } from "./search-speed/sample-passages.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { callTool, type GatewayClient } from "./support/mcp-client.ts";
import { measureTime } from "./support/measure-alternately.ts";
import { callRest, type RestClient } from "./support/rest-client.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { startService } from "./support/start-servers.ts";
import { pdfFile } from "./support/pdf-file.ts";
import { percentile } from "./support/statistics.ts";

const DOCUMENTS = 100;
const PASSAGES_OF_DOCUMENT = 100;
/** The passages of a document of 50 pages. */
const PASSAGES_OF_50_PAGES = 120;
const PDF_PAGES = 50;
const ADDED_DOCUMENTS = 5;
const SERVICE_STARTS = 3;
const CLIENTS = 16;
/** Together with the other calls below the rate limit, which is 600 calls a minute. */
const CALLS_OF_CLIENT = 20;
const TARGET_ADD_MS = 2000;
/** Other programs make a figure worse: with a higher load average, no figure is compared with its target. */
const MAX_LOAD = 1;

export const knowledge: Section = {
  name: "knowledge",
  title: "Company Knowledge over HTTP",
  method: `\`company_knowledge_search\` over \`POST /mcp\` on Postgres, in an organization with ${DOCUMENTS} documents of ${PASSAGES_OF_DOCUMENT} passages, each of 60 to 140 words in sentences with a heading. Without a language model. The questions are those of \`bench/search-quality/company\`, whose words are the most frequent ones of the passages. *Without HTTP:* the same questions to the same function in the process of the benchmark. *First search:* the first request to a service that has just started. *Adding a document:* one of ${PASSAGES_OF_50_PAGES} passages, about 50 pages, as Markdown with \`POST /v1/knowledge/documents\`. *Adding a PDF:* the same text on ${PDF_PAGES} pages, which is read in a sandbox.`,
  async measure(context) {
    await using database = await createScratchDatabase();
    const load = loadavg()[0] ?? 0;
    const { metrics } = await measureKnowledge(context, database.url);
    const notes = [
      `Database: PostgreSQL ${database.version}. Load average before: ${load.toFixed(1)}, after: ${(loadavg()[0] ?? 0).toFixed(1)}.`,
    ];
    if (load < MAX_LOAD) return { metrics, notes };
    notes.push("Other programs used the machine, so the figures are not compared with targets.");
    return { metrics: metrics.map((metric) => ({ ...metric, target: null })), notes };
  },
};

interface Organization {
  orgId: string;
  rest: (url: string) => RestClient;
  mcp: (url: string) => GatewayClient;
}

async function measureKnowledge(context: BenchContext, databaseUrl: string): Promise<{ metrics: Metric[] }> {
  const options = { databaseUrl, dataDirectory: context.folder };
  const questions = (await readCompanyCollection()).questions.map(({ text }) => text);
  const passages = await SamplePassages.create();
  const { organization, added, addedPdfs } = await fill(context, options, passages);
  const first: number[] = [];
  for (let start = 0; start < SERVICE_STARTS; start++) first.push(await measureFirst(context, options, organization));
  await using service = await startService(options, context.signal);
  const client = organization.mcp(await service.call("publicUrl"));
  const one: number[] = [];
  for (const question of questions) one.push(await measureTime(() => ask(client, question)));
  context.log(`one client: ${describeTimes(one)}`);
  const { many, perSecond } = await measureClients(client, questions);
  context.log(`${CLIENTS} clients: ${formatInteger(perSecond)}/s, ${describeTimes(many)}`);
  const module = await measureModule(databaseUrl, organization.orgId, questions);
  context.log(`without HTTP: ${describeTimes(module)}`);
  const beside = `without HTTP p95 ${percentile(module, 0.95).toFixed(1)} ms, ${describeTimes(module)}`;
  return {
    metrics: [
      toMetric("One client, p95", percentile(one, 0.95), `${describeTimes(one)}; ${beside}`),
      toMetric(`${CLIENTS} clients, p95`, percentile(many, 0.95), describeTimes(many)),
      { name: `Searches per second, ${CLIENTS} clients`, result: formatInteger(perSecond), target: null, details: "" },
      toMetric("First search, median", percentile(first, 0.5), describeTimes(first)),
      toMetric("Adding a document, median", percentile(added, 0.5), describeTimes(added), TARGET_ADD_MS),
      toMetric("Adding a PDF, median", percentile(addedPdfs, 0.5), describeTimes(addedPdfs), TARGET_ADD_MS),
    ],
  };
}

/** Creates an organization with documents, and measures how long further ones take. */
async function fill(
  { log, signal }: BenchContext,
  options: Parameters<typeof startService>[0],
  passages: SamplePassages,
): Promise<{ organization: Organization; added: number[]; addedPdfs: number[] }> {
  await using service = await startService(options, signal);
  const { org_id: orgId, api_key: key, personal_access_token: token } = await service.call("createOrganization");
  const organization: Organization = {
    orgId,
    rest: (url) => ({ url, token: key, signal }),
    mcp: (url) => ({ url: `${url}/mcp`, token, signal }),
  };
  const rest = organization.rest(await service.call("publicUrl"));
  const add = (count: number): Promise<unknown> => {
    const content = writeDocument(passages, count);
    return callRest(rest, "/v1/knowledge/documents", { kind: "policy", content });
  };
  for (let document = 0; document < DOCUMENTS; document++) await add(PASSAGES_OF_DOCUMENT);
  log(`${formatInteger(DOCUMENTS * PASSAGES_OF_DOCUMENT)} passages are stored`);
  const added: number[] = [];
  for (let document = 0; document < ADDED_DOCUMENTS; document++)
    added.push(await measureTime(() => add(PASSAGES_OF_50_PAGES)));
  log(`a document is added: ${describeTimes(added)}`);
  const addedPdfs: number[] = [];
  for (let document = 0; document < ADDED_DOCUMENTS; document++) {
    const file = { name: `handbook-${document}.pdf`, content: writePdf(passages).toString("base64") };
    const add = () => callRest<{ status: string }>(rest, "/v1/knowledge/documents", { kind: "policy", file });
    addedPdfs.push(await measureTime(async () => assert.equal((await add()).status, "created")));
  }
  log(`a PDF is added: ${describeTimes(addedPdfs)}`);
  return { organization, added, addedPdfs };
}

/** Writes the same text as a PDF of 50 pages. */
function writePdf(passages: SamplePassages): Buffer {
  const lines = writeDocument(passages, PASSAGES_OF_50_PAGES)
    .split("\n\n")
    .flatMap((paragraph) => {
      const isHeading = paragraph.startsWith("## ");
      const words = paragraph.replace("## ", "");
      return (words.match(/.{1,90}(?: |$)/g) ?? []).map((text) => ({ text: text.trim(), size: isHeading ? 16 : 10 }));
    });
  const linesOfPage = Math.ceil(lines.length / PDF_PAGES);
  const pages = Array.from({ length: PDF_PAGES }, (_, page) =>
    lines
      .slice(page * linesOfPage, (page + 1) * linesOfPage)
      .map((line, index) => ({ ...line, top: 60 + (index * 720) / linesOfPage })),
  );
  return pdfFile(pages, "Handbook");
}

/** Writes a section for each passage, with sentences of 14 words. */
function writeDocument(passages: SamplePassages, count: number): string {
  return passages
    .create(count)
    .map(({ title, body }) => `## ${title}\n\n${body.replaceAll(/((?:\S+ ){13}\S+) /g, "$1. ")}.`)
    .join("\n\n");
}

async function measureFirst(
  { signal, log }: BenchContext,
  options: Parameters<typeof startService>[0],
  organization: Organization,
): Promise<number> {
  await using service = await startService(options, signal);
  const client = organization.mcp(await service.call("publicUrl"));
  const ms = await measureTime(() => ask(client, "How many vacation days do I get each year?"));
  log(`first search after a start: ${ms.toFixed(1)} ms`);
  return ms;
}

async function measureClients(
  client: GatewayClient,
  questions: readonly string[],
): Promise<{ many: number[]; perSecond: number }> {
  const many: number[] = [];
  const runClient = async (first: number): Promise<void> => {
    for (let call = 0; call < CALLS_OF_CLIENT; call++) {
      const question = questions[(first * CALLS_OF_CLIENT + call) % questions.length] ?? "";
      many.push(await measureTime(() => ask(client, question)));
    }
  };
  const ms = await measureTime(() => Promise.all(Array.from({ length: CLIENTS }, (_, index) => runClient(index))));
  return { many, perSecond: (1000 * many.length) / ms };
}

async function measureModule(databaseUrl: string, orgId: string, questions: readonly string[]): Promise<number[]> {
  await using database = await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent"));
  const deps = {
    db: queryBuilderOf(database.orm.em.fork()),
    queryEmbedder: null,
    languageModel: null,
    modelCalls: new FairQueue({ running: 1, runningPerKey: 1, waiting: 0 }, "no model"),
    mayCallModel: () => Promise.resolve(true),
    reportModelError: () => undefined,
  };
  const credential = { kind: "operator", id: "bench" } as const;
  const caller: Caller = { orgId, userId: null, role: "owner", scope: "everything", credential };
  const durations: number[] = [];
  for (const query of questions)
    durations.push(await measureTime(() => searchKnowledge(deps, caller, { query, limit: 5 })));
  return durations;
}

async function ask(client: GatewayClient, query: string): Promise<void> {
  const { answer, related } = await callTool<KnowledgeAnswer>(client, "company_knowledge_search", { query });
  assert(answer !== null || related.length > 0);
}

function toMetric(name: string, ms: number, details: string, bound?: number): Metric {
  const target = bound === undefined ? null : { bound: `≤ ${bound} ms`, met: ms <= bound };
  return { name, result: `${ms.toFixed(1)} ms`, target, details };
}

function describeTimes(ms: readonly number[]): string {
  return `p50 ${percentile(ms, 0.5).toFixed(1)} ms, slowest ${Math.max(...ms).toFixed(1)} ms of ${ms.length}`;
}
