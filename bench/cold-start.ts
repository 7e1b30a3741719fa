import { type Edge, startEdge } from "./support/start-servers.ts";
import type { Bench, Section } from "./support/bench-section.ts";
import { percentile } from "./support/statistics.ts";
import { timed, visit } from "./support/request-app.ts";

/** What the examples stand for: a script alone, one with an SQL database, and static files. */
const EXAMPLES = ["hello", "guestbook", "site"];
const COPIES = 2;
const ROUNDS = 6;
const TARGET_MS = 350;

export const coldStart: Section = {
  name: "cold-start",
  title: "Cold start",
  method: `The first request through the front door to an app that is stopped, from the connection to the last byte of the answer: ${COPIES} copies each of ${EXAMPLES.map((name) => `\`examples/${name}\``).join(", ")}, ${ROUNDS} times in turn, one at a time.`,
  async measure(bench) {
    const samples = await coldStarts(bench);
    const p95 = percentile(samples, 0.95);
    const slowest = `slowest ${Math.max(...samples).toFixed(0)} ms of ${samples.length}`;
    const target = { bound: `≤ ${TARGET_MS} ms`, met: p95 <= TARGET_MS };
    const figures = [
      { what: "First request, p50", measured: `${percentile(samples, 0.5).toFixed(0)} ms`, target: null, detail: "" },
      { what: "First request, p95", measured: `${p95.toFixed(0)} ms`, target, detail: slowest },
    ];
    return { figures, notes: [] };
  },
};

async function coldStarts(bench: Bench): Promise<number[]> {
  await using edge = await startEdge({ dataDirectory: bench.folder }, bench.signal);
  const apps = await publishAll(edge, bench);
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const { slug, url } of apps) {
      await edge.ask("stop", slug);
      samples.push(await timed(() => visit(url, bench.signal)));
    }
    bench.say(
      `round ${round + 1}: ${samples
        .slice(-apps.length)
        .map((ms) => ms.toFixed(0))
        .join(", ")} ms`,
    );
  }
  return samples;
}

async function publishAll(edge: Edge, { say }: Bench): Promise<{ slug: string; url: string }[]> {
  const apps = [];
  for (const example of EXAMPLES) {
    say(`building examples/${example}`);
    const bundle = await edge.ask("build", example);
    for (let copy = 1; copy <= COPIES; copy++) {
      const slug = `${example}-${copy}`;
      apps.push({ slug, url: await edge.ask("publish", slug, bundle) });
    }
  }
  return apps;
}
