import assert from "node:assert/strict";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bareDeno } from "../support/bare-deno.ts";
import { callTool, type GatewayClient } from "../support/mcp-client.ts";
import { interleave } from "../support/measure-alternately.ts";
import type { Bench, Figure } from "../support/bench-section.ts";
import { compare, median, percentile } from "../support/statistics.ts";
import { timed } from "../support/request-app.ts";
import type { Execution } from "./hostile-programs.ts";

export const CODE = "console.log(1)";
export const WARM_UP_ROUNDS = 1;
export const ROUNDS = 9;
/** One directly after the other, so that what a side puts off until a run is over is part of the next one. */
export const RUNS = 10;
/** Before each side's turn: long enough for what the other one put off. */
export const REST_MS = 500;
const TARGET_RATIO = 2.5;
const TARGET_MS = 120;

type Run = () => Promise<unknown>;

/** How long a program takes that does next to nothing, against the same without a service and a sandbox around it. */
export async function measureOneProgram({ folder, signal, say }: Bench, client: GatewayClient): Promise<Figure[]> {
  const bare = await bareDeno(path.join(folder, "bare"), CODE);
  const ours = async (): Promise<void> => {
    const { stdout } = await callTool<Execution>(client, "service_execute", { code: CODE });
    assert.equal(stdout, "1\n");
  };
  const theirs = async (): Promise<void> => assert.equal(await bare(signal), "1\n");
  const firstMs = await timed(ours);
  await interleave(WARM_UP_ROUNDS, { ours: batch(ours, [], signal), theirs: batch(theirs, [], signal) });
  const samples = { ours: [] as number[], theirs: [] as number[] };
  const sides = { ours: batch(ours, samples.ours, signal), theirs: batch(theirs, samples.theirs, signal) };
  const { ratio, ...means } = compare(await interleave(ROUNDS, sides));
  const p50 = median(samples.ours);
  say(`service_execute: ${inWords(samples.ours)}; deno run: ${inWords(samples.theirs)}`);
  return [
    {
      what: `Time of \`${CODE}\`, as a multiple of bare \`deno run\``,
      measured: ratio.toFixed(2),
      target: { bound: `≤ ${TARGET_RATIO}`, met: ratio <= TARGET_RATIO },
      detail: `${means.ours.toFixed(1)} ms, \`deno run\` ${means.theirs.toFixed(1)} ms`,
    },
    {
      what: `Time of \`${CODE}\`, p50`,
      measured: `${p50.toFixed(0)} ms`,
      target: { bound: `≤ ${TARGET_MS} ms`, met: p50 <= TARGET_MS },
      detail: `p99 ${percentile(samples.ours, 0.99).toFixed(0)} ms; the first one of the service ${firstMs.toFixed(0)} ms; \`deno run\` ${inWords(samples.theirs)}`,
    },
  ];
}

/** @returns the mean of the batch, in milliseconds */
function batch(run: Run, samples: number[], signal: AbortSignal): () => Promise<number> {
  return async () => {
    await sleep(REST_MS, null, { signal });
    const tookMs = await timed(async () => {
      for (let at = 0; at < RUNS; at++) samples.push(await timed(run));
    });
    return tookMs / RUNS;
  };
}

function inWords(samples: readonly number[]): string {
  return `p50 ${median(samples).toFixed(1)} ms, p99 ${percentile(samples, 0.99).toFixed(0)} ms`;
}
