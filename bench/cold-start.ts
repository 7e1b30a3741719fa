import type { BenchContext, Section } from "./support/bench-section.ts";
import { measureTime } from "./support/measure-alternately.ts";
import { requestApp } from "./support/request-app.ts";
import { type EdgeProcess, startEdge } from "./support/start-servers.ts";
import { percentile } from "./support/statistics.ts";

/** A plain script, a script with an SQL database, and static files. */
const EXAMPLES = ["hello", "guestbook", "site"];
const COPIES = 2;
const ROUNDS = 6;
const TARGET_MS = 350;

export const coldStart: Section = {
  name: "cold-start",
  title: "Cold start",
  method: `The first request through the edge proxy to a stopped app, from the connection to the last byte of the response. The apps are ${COPIES} copies each of ${EXAMPLES.map((name) => `\`examples/${name}\``).join(", ")}. Each is started ${ROUNDS} times, one app at a time.`,
  async measure(context) {
    const samples = await measureColdStarts(context);
    const p95 = percentile(samples, 0.95);
    return {
      metrics: [
        {
          name: "First request, p50",
          result: `${percentile(samples, 0.5).toFixed(0)} ms`,
          target: null,
          details: "",
        },
        {
          name: "First request, p95",
          result: `${p95.toFixed(0)} ms`,
          target: { bound: `≤ ${TARGET_MS} ms`, met: p95 <= TARGET_MS },
          details: `slowest ${Math.max(...samples).toFixed(0)} ms of ${samples.length} requests`,
        },
      ],
      notes: [],
    };
  },
};

async function measureColdStarts(context: BenchContext): Promise<number[]> {
  await using edge = await startEdge({ dataDirectory: context.folder }, context.signal);
  const apps = await publishApps(edge, context);
  const samples: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const durations: number[] = [];
    for (const { slug, url } of apps) {
      await edge.call("stop", slug);
      durations.push(await measureTime(() => requestApp(url, context.signal)));
    }
    context.log(`round ${round}: ${durations.map((ms) => ms.toFixed(0)).join(", ")} ms`);
    samples.push(...durations);
  }
  return samples;
}

async function publishApps(edge: EdgeProcess, { log }: BenchContext): Promise<{ slug: string; url: string }[]> {
  const apps = [];
  for (const example of EXAMPLES) {
    log(`building examples/${example}`);
    const bundle = await edge.call("build", example);
    for (let copy = 1; copy <= COPIES; copy++) {
      const slug = `${example}-${copy}`;
      apps.push({ slug, url: await edge.call("publish", slug, bundle) });
    }
  }
  return apps;
}
