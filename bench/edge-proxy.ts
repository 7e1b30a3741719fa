import { loadavg } from "node:os";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { measureRequestRate } from "./support/load-generator.ts";
import { measureAlternately } from "./support/measure-alternately.ts";
import { startBareProxy, startEdge } from "./support/start-servers.ts";
import { compare } from "./support/statistics.ts";

const CONNECTIONS = [16, 50];
const ROUNDS = 11;
const SECONDS = 1;
/** The edge proxy is JavaScript and needs time until it is compiled. The app server, workerd, is native code. */
const WARM_UP_ROUNDS = 6;
const TARGET = 0.48;

export const edgeProxy: Section = {
  name: "edge-proxy",
  title: "Edge proxy",
  method: `Requests to \`examples/hello\` through the edge proxy. The baseline is requests to the app's own port, without the edge proxy. *Bare proxy:* a proxy of 15 lines on \`node:http\`, which only forwards, in place of the edge proxy. The proxies, the app and the load generator are separate processes. ${ROUNDS} rounds of ${SECONDS} s for each side, after ${WARM_UP_ROUNDS} warm-up rounds.`,
  async measure(context) {
    await using edge = await startEdge({ dataDirectory: context.folder }, context.signal);
    const url = await edge.call("publish", "hello", await edge.call("build", "hello"));
    const appPort = await edge.call("appPort", "hello");
    await using bareProxy = await startBareProxy({ appPort: appPort ?? 0 }, context.signal);
    const bareUrl = new URL(url);
    bareUrl.port = String(await bareProxy.call("port"));
    const before = loadavg()[0] ?? 0;
    const metrics: Metric[] = [];
    for (const connections of CONNECTIONS) {
      const target = { appPort, connections };
      metrics.push(await measureShare(context, { ...target, what: "", url }, TARGET));
      metrics.push(await measureShare(context, { ...target, what: " through a bare proxy", url: bareUrl.href }, null));
    }
    return { metrics, notes: [`Load average before: ${before.toFixed(1)}.`] };
  },
};

interface Target {
  what: string;
  url: string;
  appPort: number | undefined;
  connections: number;
}

async function measureShare(
  { signal, log }: BenchContext,
  { what, url, appPort, connections }: Target,
  target: number | null,
): Promise<Metric> {
  const { host, port: proxyPort } = new URL(url);
  const measure = (name: string, port: string) => async (): Promise<number> => {
    const load = { url: `http://127.0.0.1:${port}/`, headers: [{ host }], connections, seconds: SECONDS };
    const rate = await measureRequestRate(load, signal);
    log(`${name}, ${connections} connections: ${formatInteger(rate)} requests/s`);
    return rate;
  };
  const sides = {
    service: measure(what === "" ? "edge proxy" : "bare proxy", proxyPort),
    baseline: measure("app port", String(appPort)),
  };
  await measureAlternately(WARM_UP_ROUNDS, sides);
  const { ratio, service, baseline } = compare(await measureAlternately(ROUNDS, sides));
  return {
    name: `Requests/s${what} with ${connections} connections, relative to the app's own port`,
    result: ratio.toFixed(2),
    target: target === null ? null : { bound: `≥ ${target}`, met: ratio >= target },
    details: `${formatInteger(service)} requests/s, app port ${formatInteger(baseline)} requests/s`,
  };
}
