/** What puts a server under load. */
import autocannon from "autocannon";
import { serve } from "../support/serve-commands.ts";
import { percentile } from "../support/statistics.ts";

export interface Load {
  url: string;
  /** GET when left out. */
  method?: "GET" | "POST";
  body?: string;
  /** The headers of a request, in as many versions as there are; each connection goes round its own share of them. */
  headers: readonly Record<string, string>[];
  /** How long every answer must be, in characters; any length will do when left out. */
  answerLength?: number;
  connections: number;
  seconds: number;
}

export interface Measured {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

export type LoadCommands = Awaited<ReturnType<typeof open>>["commands"];

/** Short, so that a run ends soon after its time is up: it is only looked at when a sample is taken. */
const SAMPLE_MS = 100;

async function open() {
  return { commands: { fire }, close: async () => undefined };
}

/**
 * Asks for one URL over and over, each connection waiting for its answer.
 *
 * @throws when not every answer was a good one, because then something else was measured
 */
async function fire({ headers, answerLength, connections, seconds, ...request }: Load): Promise<Measured> {
  let started = 0;
  const latencies: number[] = [];
  const options: autocannon.Options = {
    ...{ ...request, connections, duration: seconds, sampleInt: SAMPLE_MS },
    setupClient: (client) =>
      client.setRequests(shareOf(headers, started++, connections).map((each) => ({ headers: each }))),
    ...(answerLength !== undefined && { verifyBody: (body) => body?.length === answerLength }),
  };
  const { requests, duration, errors, non2xx, mismatches } = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error, result) => (error ? reject(error as Error) : resolve(result)));
    run.on("response", (_client, _status, _bytes, ms) => latencies.push(ms));
  });
  if (errors + non2xx + mismatches > 0)
    throw new Error(`${errors} errors, ${non2xx} refusals and ${mismatches} other answers under load`);
  return {
    requestsPerSecond: requests.total / duration,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function shareOf<T>(all: readonly T[], connection: number, connections: number): T[] {
  const step = Math.min(connections, all.length);
  return all.filter((_, at) => at % step === connection % step);
}

await serve(open);
