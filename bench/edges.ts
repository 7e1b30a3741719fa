import path from "node:path";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { measureRequestRate } from "./support/load-generator.ts";
import { treeCpuMs } from "./support/processor-time.ts";
import { type EdgeProcess, startEdge, startObjectStore } from "./support/start-servers.ts";
import { compare, type Pair } from "./support/statistics.ts";

const EDGES = [2, 4];
const ROUNDS = 7;
const SECONDS = 2;
const CONNECTIONS = 16;
/** The edge proxies are JavaScript and need time until they are compiled. */
const WARM_UP_ROUNDS = 3;

export const edges: Section = {
  name: "edges",
  title: "Several edges",
  method: `Requests to \`examples/hello\` and to \`examples/guestbook\`, which reads its D1 database, over several edges with \`EDGE_CLUSTER=on\` and an object store on the same machine. All edges share two cores, so requests per second cannot grow. The result is the work per CPU second of the edges with their apps, relative to one edge: with 1.00, n edges on n machines serve n times as many requests. ${CONNECTIONS} connections to each edge, ${ROUNDS} rounds of ${SECONDS} s for each side, after ${WARM_UP_ROUNDS} warm-up rounds.`,
  async measure(context) {
    await using starting = new AsyncDisposableStack();
    const store = starting.use(await startObjectStore(context.signal));
    const cluster = await store.call("settings");
    const started: EdgeProcess[] = [];
    for (let at = 0; at < Math.max(...EDGES); at++) {
      const dataDirectory = path.join(context.folder, `edge-${at}`);
      started.push(starting.use(await startEdge({ dataDirectory, cluster }, context.signal)));
    }
    const [first] = started as [EdgeProcess];
    const metrics: Metric[] = [];
    for (const example of ["hello", "guestbook"]) {
      const url = new URL(await first.call("publish", example, await first.call("build", example)));
      for (const count of EDGES) metrics.push(await compareWithOne(context, started.slice(0, count), url));
    }
    return { metrics, notes: [] };
  },
};

async function compareWithOne(context: BenchContext, started: readonly EdgeProcess[], url: URL): Promise<Metric> {
  const measure = (some: readonly EdgeProcess[]) => measureWork(context, some, url);
  const pairs: Pair[] = [];
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const pair = { service: await measure(started), baseline: await measure(started.slice(0, 1)) };
    if (round >= 0) pairs.push(pair);
  }
  const { ratio, service, baseline } = compare(pairs);
  const slug = url.hostname.split(".")[0];
  return {
    name: `Requests to ${slug} per CPU second with ${started.length} edges, relative to one edge`,
    result: ratio.toFixed(2),
    target: null,
    details: `${formatInteger(service)} per CPU second, one edge ${formatInteger(baseline)}`,
  };
}

/** Sends requests to all of these edges at the same time, and returns how many they serve per second of their CPU time. */
async function measureWork({ signal, log }: BenchContext, some: readonly EdgeProcess[], url: URL): Promise<number> {
  const cpuMs = async () => {
    let sum = 0;
    for (const { pid } of some) sum += treeCpuMs(pid);
    return sum;
  };
  const before = await cpuMs();
  const rates = await Promise.all(
    some.map(async (edge) => {
      const port = await edge.call("port");
      const headers = [{ host: url.host }];
      const load = {
        url: `http://127.0.0.1:${port}/`,
        headers,
        connections: CONNECTIONS,
        seconds: SECONDS,
      };
      return measureRequestRate(load, signal);
    }),
  );
  const requests = rates.reduce((sum, rate) => sum + rate, 0) * SECONDS;
  const work = (requests / ((await cpuMs()) - before)) * 1000;
  log(`${some.length} edges: ${formatInteger(requests / SECONDS)} requests/s, ${formatInteger(work)} per CPU second`);
  return work;
}
