import path from "node:path";
import { hostilePrograms } from "./execute/hostile-programs.ts";
import {
  CALL_INTERVAL_MS,
  HOSTILE_MS,
  type HostileRun,
  measureIdleCalls,
  runHostileProgram,
} from "./execute/other-callers-latency.ts";
import { measureParallelPrograms, PARALLEL_CALLERS, PARALLEL_ROUNDS, SIDE_MS } from "./execute/parallel-programs.ts";
import { CODE, measureProgram, REST_MS, ROUNDS, RUNS, WARM_UP_ROUNDS } from "./execute/program-latency.ts";
import type { BenchContext, Metric, Section, SectionResult } from "./support/bench-section.ts";
import type { GatewayClient } from "./support/mcp-client.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { type ServiceProcess, startService } from "./support/start-servers.ts";
import { formatLatencies, percentile } from "./support/statistics.ts";

/** Enough organizations that none of them exceeds its rate limit. */
const OTHER_ORGANIZATIONS = 4;
const APPS = 20;
const TARGET_OTHERS_MS = 200;
/** One program, and as many as the service runs concurrently. Further programs would wait. */
const CONCURRENCY = [1, 8];

export const execute: Section = {
  name: "execute",
  title: "Running programs",
  method: `\`service_execute\` of \`${CODE}\` over \`POST /mcp\`, on Postgres. The baseline is \`deno run\` of a file with the same code: the same Deno, with a warm cache and without a sandbox. Each side runs the program ${RUNS} times in a row, and the mean counts. Before that, both sides are idle for ${REST_MS} ms: the service may start a Deno in advance for the next program, and that work must not slow down the other side. ${ROUNDS} rounds after ${WARM_UP_ROUNDS} warm-up round. *In parallel:* ${PARALLEL_CALLERS} callers run the same program repeatedly, each side for ${SIDE_MS / 1000} s in each of ${PARALLEL_ROUNDS} rounds. The baselines are \`deno run\` as above, and the same in one layer of bubblewrap, both started by the process that calls the service. *Other callers:* one organization runs hostile programs, each repeatedly for ${HOSTILE_MS / 1000} s with a time limit of ${HOSTILE_MS / 1000} s, first ${CONCURRENCY.join(" and then ")} concurrently (the most that the service runs). Meanwhile other organizations call \`service_list_apps\`, one call at a time and at most ${1000 / CALL_INTERVAL_MS} calls per second. A program that breaks out of its limits stops the benchmark.`,
  async measure(context) {
    await using database = await createScratchDatabase();
    const dataDirectory = path.join(context.folder, "data");
    await using service = await startService({ databaseUrl: database.url, dataDirectory }, context.signal);
    const program = await measureProgram(context, await createClient(service, context.signal));
    const parallel = await measureParallelPrograms(context, service, await createClients(service, context.signal));
    const others = await measureOtherCallers(context, service);
    return { metrics: [...program, ...parallel, ...others.metrics], notes: others.notes };
  },
};

async function measureOtherCallers(context: BenchContext, service: ServiceProcess): Promise<SectionResult> {
  const { signal, log } = context;
  const others = await createClients(service, signal);
  const idle = formatLatencies(await measureIdleCalls(others));
  log(`without hostile programs: ${idle}`);
  const result: SectionResult = { metrics: [], notes: [] };
  for (const concurrency of CONCURRENCY) {
    const runs = await runHostilePrograms(concurrency, context, service, others);
    result.metrics.push(toMetric(concurrency, runs, `without hostile programs ${idle}`));
    const list = runs.map((run) => `- ${formatRun(run)}`).join("\n");
    result.notes.push(`Hostile programs, ${concurrency} concurrently, and the calls of other organizations:`, list);
  }
  return result;
}

async function runHostilePrograms(
  concurrency: number,
  { signal, log }: BenchContext,
  service: ServiceProcess,
  others: readonly GatewayClient[],
): Promise<HostileRun[]> {
  const runs: HostileRun[] = [];
  for (const program of hostilePrograms(await service.call("publicUrl"))) {
    // A new organization for each program, so that its rate limit does not protect the other callers.
    const run = await runHostileProgram(program, concurrency, await createClient(service, signal), others);
    log(`${concurrency} concurrently, ${formatRun(run)}`);
    runs.push(run);
  }
  return runs;
}

function toMetric(concurrency: number, runs: readonly HostileRun[], details: string): Metric {
  const callMs = runs.flatMap((run) => run.callMs);
  const p99 = percentile(callMs, 0.99);
  return {
    name: `Call of another organization during hostile programs, ${concurrency} concurrently, p99`,
    result: `${p99.toFixed(0)} ms`,
    target: { bound: `< ${TARGET_OTHERS_MS} ms`, met: p99 < TARGET_OTHERS_MS },
    details: `${formatLatencies(callMs)}; ${details}`,
  };
}

async function createClients(service: ServiceProcess, signal: AbortSignal): Promise<GatewayClient[]> {
  const clients: GatewayClient[] = [];
  while (clients.length < OTHER_ORGANIZATIONS) clients.push(await createClient(service, signal));
  return clients;
}

/** Creates an organization with apps and returns a client with its token. */
async function createClient(service: ServiceProcess, signal: AbortSignal): Promise<GatewayClient> {
  const [organization] = await service.call("createOrganizations", 1, APPS);
  return {
    url: `${await service.call("publicUrl")}/mcp`,
    token: organization?.personal_access_token ?? "",
    signal,
  };
}

function formatRun({ description, exits, callMs }: HostileRun): string {
  const counts = [...exits].map(([exit, count]) => `${exit} (${count}×)`).join("; ");
  return `${description}: ${counts}; other calls ${formatLatencies(callMs)}`;
}
