/** A load generator. */
import autocannon from "autocannon";
import { serveCommands } from "../support/serve-commands.ts";
import { percentile } from "../support/statistics.ts";

/** A character that is split over two chunks counts as up to three characters. A response has few that can be split. */
const SPLIT_CHARACTERS = 8;

export interface Load {
  url: string;
  /** GET by default. */
  method?: "GET" | "POST";
  body?: string;
  /** The headers of each caller. Every connection rotates over its own share of the callers. */
  headers: readonly Record<string, string>[];
  /** The expected length of every response, in characters; not checked by default. */
  responseLength?: number;
  connections: number;
  seconds: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

export type LoadCommands = Awaited<ReturnType<typeof open>>["commands"];

/** Short, because autocannon checks only when it takes a sample whether the time is over. */
const SAMPLE_MS = 100;

async function open() {
  return { commands: { generateLoad }, close: async () => undefined };
}

/**
 * Sends requests to one URL. Each connection waits for a response before its next request.
 *
 * @throws when a response was not the expected one, because then the result means something else
 */
async function generateLoad(load: Load): Promise<LoadResult> {
  const { headers, responseLength, connections, seconds, ...request } = load;
  let started = 0;
  const latencies: number[] = [];
  const options: autocannon.Options = {
    ...request,
    connections,
    duration: seconds,
    sampleInt: SAMPLE_MS,
    setupClient: (client) =>
      client.setRequests(selectShare(headers, started++, connections).map((each) => ({ headers: each }))),
  };
  if (responseLength !== undefined)
    options.verifyBody = (body) => Math.abs((body?.length ?? 0) - responseLength) <= SPLIT_CHARACTERS;
  const { requests, duration, errors, non2xx, mismatches } = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error, result) => (error ? reject(error as Error) : resolve(result)));
    run.on("response", (_client, _status, _bytes, ms) => latencies.push(ms));
  });
  if (errors + non2xx + mismatches > 0)
    throw new Error(`Under load: ${errors} errors, ${non2xx} error responses, ${mismatches} unexpected responses.`);
  return {
    requestsPerSecond: requests.total / duration,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function selectShare<T>(all: readonly T[], connection: number, connections: number): T[] {
  const step = Math.min(connections, all.length);
  return all.filter((_, index) => index % step === connection % step);
}

await serveCommands(open);
