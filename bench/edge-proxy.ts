import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { measureRequestRate } from "./support/load-generator.ts";
import { measureAlternately } from "./support/measure-alternately.ts";
import { startEdge } from "./support/start-servers.ts";
import { compare } from "./support/statistics.ts";

const CONNECTIONS = [16, 50];
const ROUNDS = 11;
const SECONDS = 1;
/** The edge proxy is JavaScript and needs time until it is compiled. The app server, workerd, is native code. */
const WARM_UP_ROUNDS = 6;
const TARGET = 0.5;

export const edgeProxy: Section = {
  name: "edge-proxy",
  title: "Edge proxy",
  method: `Requests to \`examples/hello\` through the edge proxy. The baseline is requests to the app's own port, without the edge proxy. The edge proxy, the app and the load generator are separate processes. ${ROUNDS} rounds of ${SECONDS} s for each side, after ${WARM_UP_ROUNDS} warm-up rounds.`,
  async measure(context) {
    await using edge = await startEdge({ dataDirectory: context.folder }, context.signal);
    const url = await edge.call("publish", "hello", await edge.call("build", "hello"));
    const appPort = await edge.call("appPort", "hello");
    const metrics: Metric[] = [];
    for (const connections of CONNECTIONS) metrics.push(await measureShare(context, { url, appPort, connections }));
    return { metrics, notes: [] };
  },
};

interface Target {
  url: string;
  appPort: number | undefined;
  connections: number;
}

async function measureShare({ signal, log }: BenchContext, { url, appPort, connections }: Target): Promise<Metric> {
  const { host, port: proxyPort } = new URL(url);
  const measure = (name: string, port: string) => async (): Promise<number> => {
    const load = { url: `http://127.0.0.1:${port}/`, headers: [{ host }], connections, seconds: SECONDS };
    const rate = await measureRequestRate(load, signal);
    log(`${name}, ${connections} connections: ${formatInteger(rate)} requests/s`);
    return rate;
  };
  const sides = { service: measure("edge proxy", proxyPort), baseline: measure("app port", String(appPort)) };
  await measureAlternately(WARM_UP_ROUNDS, sides);
  const { ratio, service, baseline } = compare(await measureAlternately(ROUNDS, sides));
  return {
    name: `Requests/s with ${connections} connections, relative to the app's own port`,
    result: ratio.toFixed(2),
    target: { bound: `≥ ${TARGET}`, met: ratio >= TARGET },
    details: `${formatInteger(service)} requests/s, app port ${formatInteger(baseline)} requests/s`,
  };
}
