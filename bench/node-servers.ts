import { loadavg } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSampleServer, EXPRESS, NEXT, type SampleServer } from "./node-servers/sample-servers.ts";
import type { BenchRepository } from "./support/bench-repository.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { measureTime } from "./support/measure-alternately.ts";
import { descendantsMb } from "./support/process-memory.ts";
import { treeCpuMs } from "./support/processor-time.ts";
import { requestApp } from "./support/request-app.ts";
import { type EdgeProcess, type ServiceProcess, startEdge, startService } from "./support/start-servers.ts";
import { compare, median, type Pair, percentile } from "./support/statistics.ts";
import { deployForUpdates } from "./updates/updated-app.ts";

const STARTS = 12;
const MEMORY_ROUNDS = 3;
/** The idle time before memory is measured. */
const SETTLE_MS = 3_000;
const DEPLOY_ROUNDS = 3;
const REDEPLOY_TARGET = 0.6;
/** A load average with which two processors are fully used. */
const MAX_LOAD = 3;
const REUSED = "Dependencies are unchanged";

interface Targets {
  /** `null` while other programs use the machine. */
  startMs: number | null;
  memoryMb: number | null;
}

export const express = createSection("express", EXPRESS, { startMs: 700, memoryMb: 70 }, "An app with Express");
export const nextJs = createSection(
  "next",
  NEXT,
  { startMs: 2000, memoryMb: null },
  "An app with Next.js, whose page is rendered at each request",
);

function createSection(name: string, server: SampleServer, targets: Targets, what: string): Section {
  return {
    name,
    title: `Node servers: ${server.title}`,
    method: `${what}, with its packages from the registry and a lockfile. *Cold start:* the first request through the edge proxy to the stopped app, from the connection to the last byte of the response, ${STARTS} times. *Memory:* the proportional set size (PSS) of all processes of the idle app with its sandbox, ${SETTLE_MS / 1000} s after its first request, the median of ${MEMORY_ROUNDS} starts. Other Node.js processes of the machine share the pages of the program. *Deploying again:* in a new organization each time, a deployment, a commit that changes one file, and another deployment, ${DEPLOY_ROUNDS} rounds after one that fills the cache of packages.`,
    async measure(context) {
      const before = loadavg()[0] ?? 0;
      const isBusy = before >= MAX_LOAD;
      const repository = await createSampleServer(context.folder, server, context.signal);
      const metrics = [
        ...(await measureStarts(context, repository, isBusy ? { ...targets, startMs: null } : targets)),
        await measureRedeployments(context, repository),
      ];
      const notes = [`Load average before: ${before.toFixed(1)}, after: ${(loadavg()[0] ?? 0).toFixed(1)}.`];
      if (isBusy)
        notes.push(
          "Other programs used the machine, so durations are not compared with targets. CPU times, sizes and ratios depend on them less.",
        );
      return { metrics, notes };
    },
  };
}

async function measureStarts(
  { folder, signal, log }: BenchContext,
  { gitBaseUrl, repo }: BenchRepository,
  targets: Targets,
): Promise<Metric[]> {
  await using edge = await startEdge({ dataDirectory: path.join(folder, "edge"), gitBaseUrl }, signal);
  log(`building ${repo}`);
  const slug = "app";
  const app = { slug, url: await edge.call("publish", slug, await edge.call("buildRepository", repo)) };
  const starts = await startRepeatedly(edge, app, signal);
  for (const { tookMs, cpuMs } of starts) log(`cold start ${formatInteger(tookMs)} ms, CPU time ${cpuMs} ms`);
  const memoryMb = await measureMemory(edge, app, signal);
  log(`memory: ${memoryMb.map((mb) => mb.toFixed(1)).join(", ")} MB`);
  return [...coldStartMetrics(starts, targets.startMs), memoryMetric(memoryMb, targets.memoryMb)];
}

function memoryMetric(sizes: readonly number[], targetMb: number | null): Metric {
  const mb = median(sizes);
  return {
    name: "Memory of the idle app (PSS)",
    result: `${mb.toFixed(0)} MB`,
    target: targetMb === null ? null : { bound: `≤ ${targetMb} MB`, met: mb <= targetMb },
    details: `${Math.min(...sizes).toFixed(1)} to ${Math.max(...sizes).toFixed(1)} MB`,
  };
}

interface App {
  slug: string;
  url: string;
}

interface Start {
  tookMs: number;
  cpuMs: number;
}

async function startRepeatedly(edge: EdgeProcess, { slug, url }: App, signal: AbortSignal): Promise<Start[]> {
  const starts: Start[] = [];
  while (starts.length < STARTS) {
    await edge.call("stop", slug);
    const before = treeCpuMs(edge.pid);
    const tookMs = await measureTime(() => requestApp(url, signal));
    starts.push({ tookMs, cpuMs: treeCpuMs(edge.pid) - before });
  }
  return starts;
}

async function measureMemory(edge: EdgeProcess, { slug, url }: App, signal: AbortSignal): Promise<number[]> {
  const sizes: number[] = [];
  while (sizes.length < MEMORY_ROUNDS) {
    await edge.call("stop", slug);
    const others = await descendantsMb(edge.pid);
    await requestApp(url, signal);
    await sleep(SETTLE_MS, null, { signal });
    const all = await descendantsMb(edge.pid);
    sizes.push(all.mb - others.mb);
  }
  return sizes;
}

function coldStartMetrics(starts: readonly Start[], targetMs: number | null): Metric[] {
  const durations = starts.map(({ tookMs }) => tookMs);
  const cpuMs = starts.map((start) => start.cpuMs);
  const p95 = percentile(durations, 0.95);
  return [
    {
      name: "First request, p95",
      result: `${formatInteger(p95)} ms`,
      target: targetMs === null ? null : { bound: `≤ ${formatInteger(targetMs)} ms`, met: p95 <= targetMs },
      details: `p50 ${formatInteger(median(durations))} ms, fastest ${formatInteger(Math.min(...durations))} ms, slowest ${formatInteger(Math.max(...durations))} ms of ${durations.length} requests`,
    },
    {
      name: "CPU time of a start and its request",
      result: `${formatInteger(median(cpuMs))} ms`,
      target: null,
      details: `median, of all processes; least ${formatInteger(Math.min(...cpuMs))} ms`,
    },
  ];
}

async function measureRedeployments(
  { folder, signal, log }: BenchContext,
  repository: BenchRepository,
): Promise<Metric> {
  const dataDirectory = path.join(folder, "data");
  await using service = await startService({ dataDirectory, gitBaseUrl: repository.gitBaseUrl }, signal);
  const pairs: Pair[] = [];
  for (let round = 0; round <= DEPLOY_ROUNDS; round++) {
    const pair = await deployTwice(service, repository, signal);
    log(`first ${formatInteger(pair.baseline)} ms, again ${formatInteger(pair.service)} ms`);
    if (round > 0) pairs.push(pair);
  }
  const { ratio, service: again, baseline: first } = compare(pairs);
  return {
    name: "Deploying again with an unchanged lockfile, relative to the first deployment",
    result: ratio.toFixed(2),
    target: { bound: `≤ ${REDEPLOY_TARGET}`, met: ratio <= REDEPLOY_TARGET },
    details: `${formatInteger(again)} ms, first ${formatInteger(first)} ms`,
  };
}

async function deployTwice(
  service: ServiceProcess,
  { repo, change }: BenchRepository,
  signal: AbortSignal,
): Promise<Pair> {
  const startedAt = performance.now();
  await using app = await deployForUpdates(service, repo, signal);
  const firstMs = performance.now() - startedAt;
  await change();
  const againMs = await measureTime(() => app.redeploy());
  if (!(await app.readLog(2)).includes(REUSED)) throw new Error("The second deployment installed again.");
  return { service: againMs, baseline: firstMs };
}
