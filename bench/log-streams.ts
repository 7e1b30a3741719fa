import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LogReaders } from "./log-streams/log-readers.ts";
import type { BenchContext, Section } from "./support/bench-section.ts";
import { createBuildRepository } from "./support/build-repository.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { type RunningBuild, startBuild } from "./support/start-build.ts";
import { type ServiceProcess, startService } from "./support/start-servers.ts";
import { median, percentile } from "./support/statistics.ts";

const READERS = 200;
const ROUNDS = 5;
const ROUND_MS = 4000;
const LINES_PER_SECOND = 10;
const DELAY_TARGET_MS = 300;
const CPU_TARGET_PERCENT = 10;

export const logStreams: Section = {
  name: "log-streams",
  title: "Followed logs",
  method: `A build prints the time, ${LINES_PER_SECOND} lines per second. ${READERS} readers follow its log with \`GET /v1/apps/{id}/logs?follow\` on Postgres. The delay is the time from the print to the arrival of the line at each reader. The CPU time of the readers is that of the service process with ${READERS} readers, less that with one reader, measured alternately in ${ROUNDS} rounds of ${ROUND_MS / 1000} s for each side. The readers are in another process.`,
  async measure(context) {
    const { folder, signal, log } = context;
    await using database = await createScratchDatabase();
    const script = `while :; do date +%s%3N; sleep ${1 / LINES_PER_SECOND}; done\n`;
    const { gitBaseUrl, repo } = await createBuildRepository(folder, { name: "printing", script }, signal);
    const dataDirectory = path.join(folder, "data");
    await using service = await startService({ databaseUrl: database.url, dataDirectory, gitBaseUrl }, signal);
    await using build = await startBuild(service, repo, signal);
    await waitForFirstLine(build, signal);
    const delaysMs: number[] = [];
    const differences: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const one = await measureReaders(context, { service, build, readers: 1 });
      const many = await measureReaders(context, { service, build, readers: READERS });
      delaysMs.push(...many.delaysMs);
      differences.push(many.cpuPercent - one.cpuPercent);
      log(`CPU: ${one.cpuPercent.toFixed(1)} % with one reader, ${many.cpuPercent.toFixed(1)} % with ${READERS}`);
    }
    const p95 = percentile(delaysMs, 0.95);
    const cpuPercent = median(differences);
    return {
      metrics: [
        {
          name: `From the print of a line to its arrival at ${READERS} readers, p95`,
          result: `${p95.toFixed(0)} ms`,
          target: { bound: `≤ ${DELAY_TARGET_MS} ms`, met: p95 <= DELAY_TARGET_MS },
          details: `p50 ${median(delaysMs).toFixed(0)} ms, p99 ${percentile(delaysMs, 0.99).toFixed(0)} ms of ${delaysMs.length}`,
        },
        {
          name: `CPU time of ${READERS} readers of one build`,
          result: `${cpuPercent.toFixed(1)} % of a core`,
          target: { bound: `< ${CPU_TARGET_PERCENT} %`, met: cpuPercent < CPU_TARGET_PERCENT },
          details: "median of the differences",
        },
      ],
      notes: [],
    };
  },
};

/** @throws after 60 s */
async function waitForFirstLine({ appUrl, authorization }: RunningBuild, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const response = await fetch(`${appUrl}/logs`, { headers: { authorization }, signal });
    const { logs: text } = (await response.json()) as { logs: string | null };
    if (/^\d{13}$/m.test(text ?? "")) return;
    if (Date.now() > deadline) throw new Error(`The build printed nothing:\n${text}`);
    await sleep(200, undefined, { signal });
  }
}

interface Measured {
  delaysMs: number[];
  cpuPercent: number;
}

async function measureReaders(
  { signal }: BenchContext,
  { service, build, readers: count }: { service: ServiceProcess; build: RunningBuild; readers: number },
): Promise<Measured> {
  using readers = new LogReaders();
  await readers.open(build, count);
  // The beginning of the log is sent first, which is not part of the measurement.
  await sleep(1000, undefined, { signal });
  const [cpuBefore, startedAt] = [await service.call("cpuMs"), performance.now()];
  await sleep(ROUND_MS, undefined, { signal });
  const cpuMs = (await service.call("cpuMs")) - cpuBefore;
  return { delaysMs: readers.delaysMs, cpuPercent: (cpuMs / (performance.now() - startedAt)) * 100 };
}
