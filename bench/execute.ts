import path from "node:path";
import { hostilePrograms } from "./execute/hostile-programs.ts";
import { CALL_EVERY_MS, callsInPeace, disturb, type Disturbance, HOSTILE_MS } from "./execute/other-callers-latency.ts";
import { CODE, measureOneProgram, REST_MS, ROUNDS, RUNS, WARM_UP_ROUNDS } from "./execute/program-latency.ts";
import type { GatewayClient } from "./support/mcp-client.ts";
import { type Service, startService } from "./support/start-servers.ts";
import { scratchDatabase } from "./support/scratch-database.ts";
import type { Bench, Figure, Findings, Section } from "./support/bench-section.ts";
import { percentile } from "./support/statistics.ts";

/** Enough that none of them calls more often than it may. */
const OTHERS = 4;
const APPS = 20;
const TARGET_OTHERS_MS = 200;
/** One, and as many as the service runs; the next one would wait for its turn. */
const AT_A_TIME = [1, 8];

export const execute: Section = {
  name: "execute",
  title: "Running code",
  method: `\`service_execute\` of \`${CODE}\` over \`POST /mcp\`, on Postgres, against \`deno run\` of a file with the same in it: the same Deno, with its cache warm, and no sandbox. Each side in its turn runs ${RUNS} directly after each other, of which the mean counts, after a rest of ${REST_MS} ms: the service may have a Deno ready for the next program, and what that takes must not be spent in the other side's time. ${ROUNDS} rounds after ${WARM_UP_ROUNDS} that does not count. *Others go on:* one organization's programs are hostile, each of them run over and over for ${HOSTILE_MS / 1000} s, ${AT_A_TIME.join(" and then ")} at a time (the service runs no more), with a time limit of ${HOSTILE_MS / 1000} s; in the meantime other organizations call \`service_list_apps\` one call at a time, ${1000 / CALL_EVERY_MS} a second at most. A program that gets what it wants ends the benchmark.`,
  async measure(bench) {
    await using database = await scratchDatabase();
    const dataDirectory = path.join(bench.folder, "data");
    await using service = await startService({ databaseUrl: database.url, dataDirectory }, bench.signal);
    const figures = await measureOneProgram(bench, await clientOf(service, bench.signal));
    const others = await measureOthers(bench, service);
    return { figures: [...figures, ...others.figures], notes: others.notes };
  },
};

async function measureOthers(bench: Bench, service: Service): Promise<Findings> {
  const { signal, say } = bench;
  const others: GatewayClient[] = [];
  while (others.length < OTHERS) others.push(await clientOf(service, signal));
  const peace = latencies(await callsInPeace(others));
  say(`nobody else: ${peace}`);
  const findings: Findings = { figures: [], notes: [] };
  for (const atATime of AT_A_TIME) {
    const disturbances = await disturbAll(atATime, bench, service, others);
    findings.figures.push(figureOf(atATime, disturbances, `with nobody else ${peace}`));
    const list = disturbances.map((one) => `- ${inWords(one)}`).join("\n");
    findings.notes.push(`Hostile programs, ${atATime} at a time, and the others' calls meanwhile:`, list);
  }
  return findings;
}

async function disturbAll(
  atATime: number,
  { signal, say }: Bench,
  service: Service,
  others: readonly GatewayClient[],
): Promise<Disturbance[]> {
  const disturbances: Disturbance[] = [];
  for (const program of hostilePrograms(await service.ask("publicUrl"))) {
    // A new organization each time, so that the limit on its calls does not protect the others.
    const disturbance = await disturb(program, atATime, await clientOf(service, signal), others);
    say(`${atATime} at a time, ${inWords(disturbance)}`);
    disturbances.push(disturbance);
  }
  return disturbances;
}

function figureOf(atATime: number, disturbances: readonly Disturbance[], detail: string): Figure {
  const all = disturbances.flatMap(({ callMs }) => callMs);
  const p99 = percentile(all, 0.99);
  return {
    what: `Another organization's call while hostile programs run, ${atATime} at a time, p99`,
    measured: `${p99.toFixed(0)} ms`,
    target: { bound: `< ${TARGET_OTHERS_MS} ms`, met: p99 < TARGET_OTHERS_MS },
    detail: `${latencies(all)}; ${detail}`,
  };
}

async function clientOf(service: Service, signal: AbortSignal): Promise<GatewayClient> {
  const [bootstrapped] = await service.ask("foundMany", 1, APPS);
  return { url: `${await service.ask("publicUrl")}/mcp`, token: bootstrapped?.personal_access_token ?? "", signal };
}

function inWords({ what, endings, callMs }: Disturbance): string {
  const ends = [...endings].map(([ending, count]) => `${ending} (${count}×)`).join("; ");
  return `${what}: ${ends}; the others' calls ${latencies(callMs)}`;
}

function latencies(callMs: readonly number[]): string {
  const slowest = Math.max(...callMs).toFixed(0);
  return `p50 ${percentile(callMs, 0.5).toFixed(1)} ms, p99 ${percentile(callMs, 0.99).toFixed(0)} ms, slowest ${slowest} ms of ${callMs.length}`;
}
