import assert from "node:assert/strict";
import { loadavg } from "node:os";
import { measureAppends } from "./sessions/measure-appends.ts";
import { toMetric } from "./sessions/to-metric.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { callTool, type GatewayClient } from "./support/mcp-client.ts";
import { measureAlternately, measureTime } from "./support/measure-alternately.ts";
import { callRest, type RestClient } from "./support/rest-client.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { startService } from "./support/start-servers.ts";
import { type Pair, percentile } from "./support/statistics.ts";

const SAMPLE = { sessions: 10_000, entriesOfLongest: 100_000 };
const SERVERS = 1000;
const GATEWAYS = 50;
const ROUNDS = 40;
const TARGETS = { read: 50, append: 300, list: 100 };

/** Includes what other programs do. */
const LOAD_NOTE = `Load average of the machine before the measurement: ${(loadavg()[0] ?? 0).toFixed(1)}.`;
const APPEND_NOTE =
  "PostgreSQL needs most of the time of an append to find the words of the contents and to add them to the index of the search ([decision 36](decisions/0036-index-of-transcripts.md)).";

export const sessions: Section = {
  name: "sessions",
  title: "Sessions and servers",
  method: `On Postgres. A server has ${formatInteger(SAMPLE.sessions)} sessions, and one more with ${formatInteger(SAMPLE.entriesOfLongest)} entries of 41 words, the oldest of all. Tools are called over \`POST /mcp\`, and searches and appends over REST, one at a time. The baseline of each tool is \`service_list_apps\` of the same organization, which has no apps: a call with one query that finds nothing. The baseline of a search is \`GET /v1/apps\` of that organization. The baseline of an append is one \`insert\` of the same rows over \`pg\`, into a table with the same columns and keys, but without the index of the search and without counters. *Servers:* another organization has ${formatInteger(SERVERS)} servers, of which ${GATEWAYS} are OpenClaw gateways that cannot be reached. ${ROUNDS} rounds of each call and its baseline in turn.`,
  async measure(context) {
    await using database = await createScratchDatabase();
    const options = { databaseUrl: database.url, dataDirectory: context.folder };
    await using service = await startService(options, context.signal);
    const [organization, other] = await service.call("createOrganizations", 2, 0);
    assert.ok(organization && other);
    const url = await service.call("publicUrl");
    const clientsOf = ({ api_key: key, personal_access_token: token }: typeof organization) => ({
      rest: { url, token: key, signal: context.signal },
      mcp: { url: `${url}/mcp`, token, signal: context.signal },
    });
    const longest = await service.call("insertSessions", organization.org_id, SAMPLE);
    context.log("the sessions are stored");
    const { rest, mcp } = clientsOf(organization);
    const metrics = [
      ...(await measureReads(context, mcp, longest)),
      ...(await measureSearches(context, rest)),
      ...(await measureAppends({ rest, databaseUrl: database.url, rounds: ROUNDS, target: TARGETS.append })),
      ...(await measureServers(context, clientsOf(other))),
    ];
    return { metrics, notes: [`Database: PostgreSQL ${database.version}.`, LOAD_NOTE, APPEND_NOTE] };
  },
};

async function measureReads(context: BenchContext, mcp: GatewayClient, sessionId: string): Promise<Metric[]> {
  const list = (input: object) => callTool<{ next_cursor: string }>(mcp, "service_list_agent_sessions", input);
  const read = (input: object) => callTool(mcp, "service_get_session_transcript", { session_id: sessionId, ...input });
  const baseline = () => callTool(mcp, "service_list_apps", {});
  let { next_cursor: cursor } = await list({ limit: 100 });
  for (let page = 0; page < 20; page++) cursor = (await list({ limit: 100, cursor })).next_cursor;
  const calls: [string, () => Promise<unknown>][] = [
    ["`service_list_agent_sessions`, first page", () => list({})],
    ["`service_list_agent_sessions`, a later page", () => list({ cursor })],
    ["`service_get_session_transcript`, the end", () => read({})],
    ["`service_get_session_transcript`, before the middle", () => read({ before: 50_000 })],
  ];
  const metrics: Metric[] = [];
  for (const [name, call] of calls)
    metrics.push(toMetric(name, await compareCalls(context, name, call, baseline), TARGETS.read));
  return metrics;
}

async function measureSearches(context: BenchContext, rest: RestClient): Promise<Metric[]> {
  const metrics: Metric[] = [];
  for (const [name, query] of [
    ["a word of one entry", "unique"],
    ["a word of 1,600 entries", "word1234"],
    ["two of these words", "word1234 word4321"],
    ["a name of two of these words, which no entry has", "word1234.word4321"],
    ["a name of a frequent word and one of these, which few entries have", "word1234/common"],
    ["a word of all entries", "common"],
    ["no entry", "absent"],
  ] as const) {
    const path = `/v1/sessions/search?q=${encodeURIComponent(query)}`;
    const pairs = await compareCalls(
      context,
      `search, ${name}`,
      () => callRest(rest, path),
      () => callRest(rest, "/v1/apps"),
    );
    metrics.push(toMetric(`Search, ${name}`, pairs, null));
  }
  return metrics;
}

async function measureServers(
  context: BenchContext,
  { rest, mcp }: { rest: RestClient; mcp: GatewayClient },
): Promise<Metric[]> {
  for (let number = 1; number < SERVERS; number++) {
    const gateway = { kind: "openclaw", url: `wss://gateway-${number}.invalid`, token: "token" };
    await callRest(rest, "/v1/servers", { name: `Server ${number}`, ...(number <= GATEWAYS && gateway) });
  }
  context.log("the servers are stored");
  const list = (input: object) => callTool<{ next_cursor: string }>(mcp, "service_list_agents", input);
  const { next_cursor: cursor } = await list({});
  const baseline = () => callTool(mcp, "service_list_apps", {});
  const first = await compareCalls(context, "servers", () => list({}), baseline);
  const second = await compareCalls(context, "servers, second page", () => list({ cursor }), baseline);
  return [
    toMetric(`\`service_list_agents\` with ${formatInteger(SERVERS)} servers, first page`, first, TARGETS.list),
    toMetric(`\`service_list_agents\` with ${formatInteger(SERVERS)} servers, second page`, second, TARGETS.list),
  ];
}

/** Calls each side once before the rounds. */
async function compareCalls(
  { log }: BenchContext,
  name: string,
  call: () => Promise<unknown>,
  baseline: () => Promise<unknown>,
): Promise<Pair[]> {
  const sides = { service: () => measureTime(call), baseline: () => measureTime(baseline) };
  await measureAlternately(1, sides);
  const pairs = await measureAlternately(ROUNDS, sides);
  log(
    `${name}: p95 ${percentile(
      pairs.map(({ service }) => service),
      0.95,
    ).toFixed(1)} ms`,
  );
  return pairs;
}
