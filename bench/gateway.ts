import { type ComparedGateways, type ComparedRequests, openComparedGateways } from "./gateway/compared-gateways.ts";
import type { ComparedRequest } from "./gateway/compared-request.ts";
import type { LoadResult } from "./processes/generate-load.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { measureAlternately } from "./support/measure-alternately.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { compare, median } from "./support/statistics.ts";

const CONNECTIONS = 16;
const WARM_UP_ROUNDS = 3;
const ROUNDS = 11;
const SECONDS = 1;
const APPS = 20;

interface GatewayComparison {
  name: string;
  service: keyof ComparedRequests;
  baseline: keyof ComparedRequests;
  /** The lowest acceptable ratio of the requests per second; `null` without a target. */
  target: number | null;
}

const COMPARISONS: readonly GatewayComparison[] = [
  { name: "`tools/call`, relative to a bare `McpServer`", service: "call", baseline: "mcpServerCall", target: 2 },
  { name: "`tools/call`, relative to a bare `Server`", service: "call", baseline: "serverCall", target: null },
  { name: "`tools/call`, relative to REST with the same data", service: "call", baseline: "rest", target: 0.6 },
  { name: "`tools/call`, relative to `echo` of `server-everything`", service: "call", baseline: "echo", target: null },
  { name: "`tools/list`, relative to a bare `McpServer`", service: "list", baseline: "mcpServerList", target: 1 },
  { name: "`tools/list`, relative to a bare `Server`", service: "list", baseline: "serverList", target: null },
  {
    name: "`tools/call` of revision 2026-07-28, relative to a bare `McpServer`",
    service: "call2026",
    baseline: "mcpServerCall2026",
    target: null,
  },
];

export const gateway: Section = {
  name: "gateway",
  title: "Tool gateway",
  method: `\`POST /mcp\` with \`tools/call service_list_apps\` and with \`tools/list\`, on Postgres, with ${APPS} apps in each organization. The baselines: (1) bare servers, built with the same SDK on \`node:http\`, without authentication, database and limits, with one tool that has the same schemas and the same result. One creates an \`McpServer\` for each request, which validates input and output like the gateway; the other creates a \`Server\`, which does not validate. Both respond with JSON, like the gateway. (2) \`GET /v1/apps\` of the same organizations. (3) \`echo\` of \`@modelcontextprotocol/server-everything\`, with one session per connection. The gateway queries the database in every request to check whether its cached result is still valid. Because the number of calls per minute is limited for each organization, the requests rotate over enough organizations; the baselines get the same headers. Each server and the load generator are separate processes. ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s for each side, after ${WARM_UP_ROUNDS} warm-up rounds.`,
  async measure(context) {
    await using database = await createScratchDatabase();
    const options = { databaseUrl: database.url, apps: APPS, connections: CONNECTIONS };
    await using gateways = await openComparedGateways(context, options);
    const metrics: Metric[] = [];
    for (const comparison of COMPARISONS) metrics.push(await runComparison(comparison, gateways, context));
    return { metrics, notes: [`Database: PostgreSQL ${database.version}.`, describeSizes(gateways.requests)] };
  },
};

async function runComparison(
  { name, service, baseline, target }: GatewayComparison,
  gateways: ComparedGateways,
  { log }: BenchContext,
): Promise<Metric> {
  const results = { service: [] as LoadResult[], baseline: [] as LoadResult[] };
  const measure = (request: ComparedRequest, samples: LoadResult[]) => async () => {
    const result = await gateways.measureLoad(request, SECONDS);
    log(`${request.name}: ${formatResult(result)}`);
    samples.push(result);
    return result.requestsPerSecond;
  };
  const [serviceRequest, baselineRequest] = [gateways.requests[service], gateways.requests[baseline]];
  await measureAlternately(WARM_UP_ROUNDS, {
    service: measure(serviceRequest, []),
    baseline: measure(baselineRequest, []),
  });
  const pairs = await measureAlternately(ROUNDS, {
    service: measure(serviceRequest, results.service),
    baseline: measure(baselineRequest, results.baseline),
  });
  const { ratio } = compare(pairs);
  return {
    name: `Requests/s of ${name}`,
    result: ratio.toFixed(2),
    target: target === null ? null : { bound: `≥ ${target}`, met: ratio >= target },
    details: `${formatResult(medians(results.service))}; ${baselineRequest.name} ${formatResult(medians(results.baseline))}`,
  };
}

function describeSizes({ call, list, serverList, rest, echo }: ComparedRequests): string {
  const sizes = [
    `\`tools/call\` ${formatInteger(call.responseLength)}`,
    `REST ${formatInteger(rest.responseLength)}`,
    `\`tools/list\` ${formatInteger(list.responseLength)}`,
    `\`tools/list\` of a bare server ${formatInteger(serverList.responseLength)}`,
    `\`echo\` ${formatInteger(echo.responseLength)}`,
  ];
  return `Response sizes in characters: ${sizes.join(", ")}.`;
}

function medians(results: readonly LoadResult[]): LoadResult {
  const medianOf = (field: keyof LoadResult) => median(results.map((result) => result[field]));
  return {
    requestsPerSecond: medianOf("requestsPerSecond"),
    p50Ms: medianOf("p50Ms"),
    p99Ms: medianOf("p99Ms"),
  };
}

function formatResult({ requestsPerSecond, p50Ms, p99Ms }: LoadResult): string {
  return `${formatInteger(requestsPerSecond)} requests/s (p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms)`;
}
