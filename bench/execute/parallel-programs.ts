import assert from "node:assert/strict";
import path from "node:path";
import { prepareBareDeno, prepareBubblewrapDeno } from "../support/deno-baselines.ts";
import type { BenchContext, Metric } from "../support/bench-section.ts";
import { callTool, type GatewayClient } from "../support/mcp-client.ts";
import { machineCpuMs, ownCpuMs } from "../support/processor-time.ts";
import type { ServiceProcess } from "../support/start-servers.ts";
import { median } from "../support/statistics.ts";
import type { Execution } from "./hostile-programs.ts";
import { CODE } from "./program-latency.ts";

export const PARALLEL_CALLERS = 16;
export const PARALLEL_ROUNDS = 5;
/** How long each side runs in a round, in milliseconds. */
export const SIDE_MS = 4000;
const TARGET_PER_SECOND = 50;

/** What runs a program: the service, or a baseline. `caller` is the number of the caller. */
type RunProgram = (caller: number) => Promise<string>;
type SideName = "service" | "bubblewrap" | "deno";
type Sides = Readonly<Record<SideName, RunProgram>>;

interface Sample {
  perSecond: number;
  /** CPU time for one program, in milliseconds: of the whole machine, the service, and the process that calls it. */
  machineMs: number;
  serviceMs: number;
  callerMs: number;
}

/** Measures minimal programs in parallel, relative to Deno alone and to Deno in one layer of bubblewrap. */
export async function measureParallelPrograms(
  { folder, signal, log }: BenchContext,
  service: ServiceProcess,
  clients: readonly GatewayClient[],
): Promise<Metric[]> {
  const [runDeno, runBubblewrap] = await Promise.all([
    prepareBareDeno(path.join(folder, "parallel-deno"), CODE),
    prepareBubblewrapDeno(path.join(folder, "parallel-bubblewrap"), CODE),
  ]);
  const runInService = async (caller: number): Promise<string> => {
    const client = clients[caller % clients.length];
    assert(client);
    return (await callTool<Execution>(client, "service_execute", { code: CODE })).stdout;
  };
  const sides: Sides = { service: runInService, bubblewrap: () => runBubblewrap(signal), deno: () => runDeno(signal) };
  await measureRound(sides, service, 0);
  const rounds: Record<SideName, Sample>[] = [];
  while (rounds.length < PARALLEL_ROUNDS) {
    const round = await measureRound(sides, service, rounds.length);
    rounds.push(round);
    log(`${PARALLEL_CALLERS} in parallel: ${formatRound(round)}`);
  }
  return [throughputMetric(rounds), ratioMetric(rounds, "bubblewrap"), ratioMetric(rounds, "deno")];
}

/** Measures all sides in turn. Each round starts with another one. */
async function measureRound(sides: Sides, service: ServiceProcess, round: number): Promise<Record<SideName, Sample>> {
  const names = Object.keys(sides) as SideName[];
  const order = [...names.slice(round % names.length), ...names.slice(0, round % names.length)];
  const samples: Partial<Record<SideName, Sample>> = {};
  for (const name of order) samples[name] = await measureSide(sides[name], service);
  return samples as Record<SideName, Sample>;
}

async function measureSide(run: RunProgram, service: ServiceProcess): Promise<Sample> {
  const before = await readCpuTimes(service);
  const startedAt = performance.now();
  let programs = 0;
  const callUntilEnd = async (_: unknown, caller: number): Promise<void> => {
    do {
      assert.equal(await run(caller), "1\n");
      programs++;
    } while (performance.now() - startedAt < SIDE_MS);
  };
  await Promise.all(Array.from({ length: PARALLEL_CALLERS }, callUntilEnd));
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await readCpuTimes(service);
  const perProgram = (name: keyof typeof before) => (after[name] - before[name]) / programs;
  return {
    perSecond: programs / seconds,
    machineMs: perProgram("machine"),
    serviceMs: perProgram("service"),
    callerMs: perProgram("caller"),
  };
}

async function readCpuTimes(service: ServiceProcess) {
  return { machine: await machineCpuMs(), service: await service.call("cpuMs"), caller: ownCpuMs() };
}

function throughputMetric(rounds: readonly Record<SideName, Sample>[]): Metric {
  const of = (name: keyof Sample) => median(rounds.map(({ service }) => service[name]));
  const cpu = `service ${of("serviceMs").toFixed(1)} ms, callers ${of("callerMs").toFixed(1)} ms, whole machine ${of("machineMs").toFixed(1)} ms`;
  return {
    name: `Programs per second, ${PARALLEL_CALLERS} in parallel`,
    result: of("perSecond").toFixed(0),
    target: { bound: `≥ ${TARGET_PER_SECOND}`, met: of("perSecond") >= TARGET_PER_SECOND },
    details: `CPU time for each program: ${cpu}`,
  };
}

function ratioMetric(rounds: readonly Record<SideName, Sample>[], baseline: "bubblewrap" | "deno"): Metric {
  const ratio = median(rounds.map((round) => round.service.perSecond / round[baseline].perSecond));
  const of = (name: keyof Sample) => median(rounds.map((round) => round[baseline][name]));
  const label = baseline === "deno" ? "`deno run`" : "`deno run` in one layer of bubblewrap";
  return {
    name: `Programs per second, ${PARALLEL_CALLERS} in parallel, relative to ${label}`,
    result: ratio.toFixed(2),
    target: null,
    details: `${label} ${of("perSecond").toFixed(0)}/s, CPU time of the whole machine for each program ${of("machineMs").toFixed(1)} ms`,
  };
}

function formatRound(round: Record<SideName, Sample>): string {
  return Object.entries(round)
    .map(([name, { perSecond, machineMs }]) => `${name} ${perSecond.toFixed(1)}/s (CPU ${machineMs.toFixed(1)} ms)`)
    .join(", ");
}
