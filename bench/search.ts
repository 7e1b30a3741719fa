import assert from "node:assert/strict";
import { QUERIES } from "./search/queries.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { callUntilDone } from "./support/call-until-done.ts";
import { callTool, type GatewayClient } from "./support/mcp-client.ts";
import { measureTime } from "./support/measure-alternately.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { startService } from "./support/start-servers.ts";
import { median, percentile } from "./support/statistics.ts";

const APPS = 200;
const PROCEDURES = 50;
const WARM_UP_ROUNDS = 1;
const ROUNDS = 5;
const CHANGES = 5;
/** The interval of the other organization's calls, which keeps them below the rate limit. */
const CALL_INTERVAL_MS = 10;
const TARGET_MS = 30;

export const search: Section = {
  name: "search",
  title: "Searching procedures",
  method: `\`service_docs_search\` over \`POST /mcp\` with ${formatInteger(APPS * PROCEDURES)} procedures of one organization (${PROCEDURES} in each of ${APPS} generated apps), on Postgres. ${QUERIES.length} queries, from single words to sentences, some with spelling mistakes, one at a time. ${ROUNDS} rounds after ${WARM_UP_ROUNDS} warm-up round.`,
  async measure(context) {
    await using database = await createScratchDatabase();
    const options = { databaseUrl: database.url, dataDirectory: context.folder };
    await using service = await startService(options, context.signal);
    const [organization, other] = await service.call("createOrganizations", 2, 0);
    const orgId = organization?.org_id ?? "";
    await service.call("insertAppProcedures", orgId, { firstNumber: 0, apps: APPS, procedures: PROCEDURES });
    const url = `${await service.call("publicUrl")}/mcp`;
    const clientOf = (token = ""): GatewayClient => ({ url, token, signal: context.signal });
    const client = clientOf(organization?.personal_access_token);
    const change = await measureChange(client, clientOf(other?.personal_access_token), (index) =>
      service.call("insertAppProcedures", orgId, { firstNumber: APPS + index, apps: 1, procedures: PROCEDURES }),
    );
    context.log(`adding an app: ${formatTimes(change.changeMs)}`);
    context.log(`first query after a change: ${formatTimes(change.queryMs)}`);
    context.log(`calls of another organization meanwhile: ${formatTimes(change.otherCallMs)}`);
    return { metrics: toMetrics(await measureQueries(client, context)), notes: [toNote(change)] };
  },
};

interface Change {
  /** Inserting the app with its procedures, which also indexes them. */
  changeMs: number[];
  /** The first query after each change. */
  queryMs: number[];
  /** The slowest call of another organization during each of these queries. */
  otherCallMs: number[];
}

/** Measures what an app that becomes ready costs, and its effect on the next query and on calls of others. */
async function measureChange(
  client: GatewayClient,
  other: GatewayClient,
  addApp: (index: number) => Promise<void>,
): Promise<Change> {
  const measured: Change = { changeMs: [], queryMs: [], otherCallMs: [] };
  await searchDocs(client, "refund");
  await callTool(other, "service_list_apps", {});
  for (let change = 0; change < CHANGES; change++) {
    measured.changeMs.push(await measureTime(() => addApp(change)));
    const query = measureTime(() => searchDocs(client, "refund"));
    const callMs = await callUntilDone(query, () => callTool(other, "service_list_apps", {}), CALL_INTERVAL_MS);
    measured.queryMs.push(await query);
    measured.otherCallMs.push(Math.max(...callMs));
  }
  return measured;
}

async function measureQueries(client: GatewayClient, { log }: BenchContext): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 1 - WARM_UP_ROUNDS; round <= ROUNDS; round++) {
    const durations: number[] = [];
    for (const query of QUERIES) durations.push(await measureTime(() => searchDocs(client, query)));
    log(`${round < 1 ? "warm-up" : `round ${round}`}: ${formatTimes(durations)}`);
    if (round >= 1) samples.push(...durations);
  }
  return samples;
}

async function searchDocs(client: GatewayClient, query: string): Promise<void> {
  const { hits } = await callTool<{ hits: unknown[] }>(client, "service_docs_search", { query });
  assert.ok(hits.length > 0, `the query "${query}" must have hits`);
}

function toMetrics(samples: readonly number[]): Metric[] {
  const p95 = percentile(samples, 0.95);
  return [
    { name: "Query, p50", result: `${median(samples).toFixed(1)} ms`, target: null, details: "" },
    {
      name: "Query, p95",
      result: `${p95.toFixed(1)} ms`,
      target: { bound: `≤ ${TARGET_MS} ms`, met: p95 <= TARGET_MS },
      details: `slowest ${Math.max(...samples).toFixed(1)} ms of ${samples.length} queries`,
    },
  ];
}

function toNote({ changeMs, queryMs, otherCallMs }: Change): string {
  return `Adding an app with ${PROCEDURES} procedures takes ${formatInteger(median(changeMs))} ms in the database, with the search index. The first query after it: ${formatInteger(median(queryMs))} ms. The slowest call of another organization meanwhile took ${formatInteger(median(otherCallMs))} ms.`;
}

function formatTimes(samples: readonly number[]): string {
  return `p50 ${median(samples).toFixed(1)} ms, slowest ${Math.max(...samples).toFixed(1)} ms`;
}
