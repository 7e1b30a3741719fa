import assert from "node:assert/strict";
import { QUERIES } from "./search/queries.ts";
import { callsWhile } from "./support/call-until-done.ts";
import { round } from "./support/format-number.ts";
import { callTool, type GatewayClient } from "./support/mcp-client.ts";
import { startService } from "./support/start-servers.ts";
import { scratchDatabase } from "./support/scratch-database.ts";
import type { Bench, Figure, Section } from "./support/bench-section.ts";
import { median, percentile } from "./support/statistics.ts";
import { timed } from "./support/request-app.ts";

const APPS = 200;
const PROCEDURES = 50;
const WARM_UP_ROUNDS = 1;
const ROUNDS = 5;
const CHANGES = 5;
/** How often another organization calls meanwhile, which is limited. */
const CALL_EVERY_MS = 10;
const TARGET_MS = 30;

export const search: Section = {
  name: "search",
  title: "Searching procedures",
  method: `\`service_docs_search\` over \`POST /mcp\` with ${round(APPS * PROCEDURES)} procedures of one organization, ${PROCEDURES} of each of ${APPS} made-up apps, on Postgres. ${QUERIES.length} queries, from single words to sentences and some with mistakes, one at a time, ${ROUNDS} times in turn after ${WARM_UP_ROUNDS} time that does not count.`,
  async measure(bench) {
    await using database = await scratchDatabase();
    const options = { databaseUrl: database.url, dataDirectory: bench.folder };
    await using service = await startService(options, bench.signal);
    const [organization, bystander] = await service.ask("foundMany", 2, 0);
    const orgId = organization?.org_id ?? "";
    await service.ask("recordProcedures", orgId, { from: 0, apps: APPS, procedures: PROCEDURES });
    const url = `${await service.ask("publicUrl")}/mcp`;
    const clientOf = (token = ""): GatewayClient => ({ url, token, signal: bench.signal });
    const client = clientOf(organization?.personal_access_token);
    const first = await measureFirst(client, clientOf(bystander?.personal_access_token), (at) =>
      service.ask("recordProcedures", orgId, { from: APPS + at, apps: 1, procedures: PROCEDURES }),
    );
    bench.say(
      `first query after a change: ${inMs(first.query)}, a call of another organization ${inMs(first.bystander)}`,
    );
    const samples = await measureQueries(client, bench);
    return { figures: figuresOf(samples), notes: [noteOf(first)] };
  },
};

interface First {
  query: number[];
  bystander: number[];
}

/** Another app becomes ready, and with the next query so does the index; what that costs, and what it costs others. */
async function measureFirst(
  client: GatewayClient,
  bystander: GatewayClient,
  change: (at: number) => Promise<void>,
): Promise<First> {
  const first: First = { query: [], bystander: [] };
  await ask(client, "refund");
  await callTool(bystander, "service_list_apps", {});
  for (let at = 0; at < CHANGES; at++) {
    await change(at);
    const query = timed(() => ask(client, "refund"));
    const callMs = await callsWhile(query, () => callTool(bystander, "service_list_apps", {}), CALL_EVERY_MS);
    first.query.push(await query);
    first.bystander.push(Math.max(...callMs));
  }
  return first;
}

async function measureQueries(client: GatewayClient, { say }: Bench): Promise<number[]> {
  const samples: number[] = [];
  for (let at = 0; at < WARM_UP_ROUNDS + ROUNDS; at++) {
    const round: number[] = [];
    for (const query of QUERIES) round.push(await timed(() => ask(client, query)));
    say(`${at < WARM_UP_ROUNDS ? "warm-up" : "round"}: ${inMs(round)}`);
    if (at >= WARM_UP_ROUNDS) samples.push(...round);
  }
  return samples;
}

async function ask(client: GatewayClient, query: string): Promise<void> {
  const { hits } = await callTool<{ hits: unknown[] }>(client, "service_docs_search", { query });
  assert.ok(hits.length > 0, `nothing was found for ${query}`);
}

function figuresOf(samples: readonly number[]): Figure[] {
  const p95 = percentile(samples, 0.95);
  const target = { bound: `≤ ${TARGET_MS} ms`, met: p95 <= TARGET_MS };
  const slowest = `slowest ${Math.max(...samples).toFixed(1)} ms of ${samples.length}`;
  return [
    { what: "A query, p50", measured: `${median(samples).toFixed(1)} ms`, target: null, detail: "" },
    { what: "A query, p95", measured: `${p95.toFixed(1)} ms`, target, detail: slowest },
  ];
}

function noteOf({ query, bystander }: First): string {
  return `The first query after an app has changed reads all procedures and makes the index anew: ${round(median(query))} ms. Calls of another organization in the meantime took ${round(median(bystander))} ms at the slowest.`;
}

function inMs(samples: readonly number[]): string {
  return `p50 ${median(samples).toFixed(1)} ms, slowest ${Math.max(...samples).toFixed(1)} ms`;
}
