import assert from "node:assert/strict";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { prepareBareDeno } from "../support/deno-baselines.ts";
import type { BenchContext, Metric } from "../support/bench-section.ts";
import { callTool, type GatewayClient } from "../support/mcp-client.ts";
import { measureAlternately, measureTime } from "../support/measure-alternately.ts";
import { compare, median, percentile } from "../support/statistics.ts";
import type { Execution } from "./hostile-programs.ts";

export const CODE = "console.log(1)";
export const WARM_UP_ROUNDS = 1;
export const ROUNDS = 9;
/** Runs in a row, so that work that is postponed after one run slows down the next one and is measured. */
export const RUNS = 10;
/** The idle time before each side. It is long enough for the postponed work of the other side. */
export const REST_MS = 500;
const TARGET_RATIO = 2.5;
const TARGET_MS = 35;

type Run = () => Promise<unknown>;

/** Measures a minimal program, relative to plain Deno without the service and without a sandbox. */
export async function measureProgram({ folder, signal, log }: BenchContext, client: GatewayClient): Promise<Metric[]> {
  const runDeno = await prepareBareDeno(path.join(folder, "bare"), CODE);
  const runInService = async (): Promise<void> => {
    const { stdout } = await callTool<Execution>(client, "service_execute", { code: CODE });
    assert.equal(stdout, "1\n");
  };
  const runBaseline = async (): Promise<void> => assert.equal(await runDeno(signal), "1\n");
  const firstMs = await measureTime(runInService);
  await measureAlternately(WARM_UP_ROUNDS, {
    service: measureBatch(runInService, [], signal),
    baseline: measureBatch(runBaseline, [], signal),
  });
  const samples = { service: [] as number[], baseline: [] as number[] };
  const pairs = await measureAlternately(ROUNDS, {
    service: measureBatch(runInService, samples.service, signal),
    baseline: measureBatch(runBaseline, samples.baseline, signal),
  });
  const { ratio, ...means } = compare(pairs);
  const p50 = median(samples.service);
  log(`service_execute: ${formatTimes(samples.service)}; deno run: ${formatTimes(samples.baseline)}`);
  return [
    {
      name: `Time of \`${CODE}\`, relative to \`deno run\``,
      result: ratio.toFixed(2),
      target: { bound: `≤ ${TARGET_RATIO}`, met: ratio <= TARGET_RATIO },
      details: `${means.service.toFixed(1)} ms, \`deno run\` ${means.baseline.toFixed(1)} ms`,
    },
    {
      name: `Time of \`${CODE}\`, p50`,
      result: `${p50.toFixed(0)} ms`,
      target: { bound: `≤ ${TARGET_MS} ms`, met: p50 <= TARGET_MS },
      details: `p99 ${percentile(samples.service, 0.99).toFixed(0)} ms; first program of the service ${firstMs.toFixed(0)} ms; \`deno run\` ${formatTimes(samples.baseline)}`,
    },
  ];
}

/** Returns a measurement of the mean of one batch, in milliseconds. Each run is added to `samples`. */
function measureBatch(run: Run, samples: number[], signal: AbortSignal): () => Promise<number> {
  return async () => {
    await sleep(REST_MS, null, { signal });
    const batchMs = await measureTime(async () => {
      for (let index = 0; index < RUNS; index++) samples.push(await measureTime(run));
    });
    return batchMs / RUNS;
  };
}

function formatTimes(samples: readonly number[]): string {
  return `p50 ${median(samples).toFixed(1)} ms, p99 ${percentile(samples, 0.99).toFixed(0)} ms`;
}
