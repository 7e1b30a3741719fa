import { round } from "./support/format-number.ts";
import { requestsPerSecond } from "./support/load-generator.ts";
import { startEdge } from "./support/start-servers.ts";
import { interleave } from "./support/measure-alternately.ts";
import type { Bench, Figure, Section } from "./support/bench-section.ts";
import { compare } from "./support/statistics.ts";

const CONNECTIONS = [16, 50];
const ROUNDS = 11;
const SECONDS = 1;
/** The front door is young JavaScript when it starts, and the app is compiled code: until the former is compiled too. */
const WARM_UP_ROUNDS = 6;
const TARGET = 0.5;

export const edgeProxy: Section = {
  name: "front-door",
  title: "The front door",
  method: `Requests to \`examples/hello\` through the front door, against requests to the app's own socket behind it. The edge, the app and the load are a process each. ${ROUNDS} rounds of ${SECONDS} s a side, after ${WARM_UP_ROUNDS} that do not count.`,
  async measure(bench) {
    const { folder, signal } = bench;
    await using edge = await startEdge({ dataDirectory: folder }, signal);
    const url = await edge.ask("publish", "hello", await edge.ask("build", "hello"));
    const port = await edge.ask("portOf", "hello");
    const figures: Figure[] = [];
    for (const connections of CONNECTIONS) figures.push(await race(bench, { url, port, connections }));
    return { figures, notes: [] };
  },
};

interface Race {
  url: string;
  port: number | undefined;
  connections: number;
}

async function race({ signal, say }: Bench, { url, port, connections }: Race): Promise<Figure> {
  const door = new URL(url);
  const measure = async (name: string, target: string | undefined): Promise<number> => {
    const load = { url: `http://127.0.0.1:${target}/`, headers: [{ host: door.host }], connections, seconds: SECONDS };
    const rate = await requestsPerSecond(load, signal);
    say(`${name}, ${connections} connections: ${round(rate)} requests/s`);
    return rate;
  };
  const sides = { ours: () => measure("front door", door.port), theirs: () => measure("app itself", String(port)) };
  await interleave(WARM_UP_ROUNDS, sides);
  const { ratio, ours, theirs } = compare(await interleave(ROUNDS, sides));
  return {
    what: `Requests/s, as a share of the app's own socket's, ${connections} connections`,
    measured: ratio.toFixed(2),
    target: { bound: `≥ ${TARGET}`, met: ratio >= TARGET },
    detail: `${round(ours)} requests/s, own socket ${round(theirs)} requests/s`,
  };
}
