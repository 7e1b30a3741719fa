/** A client of one organization: it measures what it sees of the service while others use it. */
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { serveCommands } from "../support/serve-commands.ts";

/** Between the end of one request and the next one, in milliseconds. */
const HEALTH_PAUSE_MS = 10;
const LIST_PAUSE_MS = 20;

/** What one organization has seen. */
export interface Observation {
  /** The longest response time of `GET /healthz`, in milliseconds. */
  stallMs: number;
  /** The response times of `GET /v1/apps`, in milliseconds. */
  listMs: number[];
  /** How many responses of `GET /v1/apps` had another status than 200, by status. */
  failures: Record<number, number>;
}

export type ObserverCommands = ReturnType<typeof createCommands>;

function createCommands() {
  let finish: (() => Promise<Observation>) | null = null;
  return {
    /** Starts to observe the service. */
    begin: (url: string, token: string): void => {
      finish = observe(url, token);
    },
    /** Ends the observation. */
    end: async (): Promise<Observation> => {
      if (finish === null) throw new Error("No observation has begun.");
      return finish();
    },
  };
}

function observe(url: string, token: string): () => Promise<Observation> {
  const agent = new Agent({ keepAlive: true });
  const observation: Observation = { stallMs: 0, listMs: [], failures: {} };
  const ending = new AbortController();
  const repeat = async (pauseMs: number, ask: () => Promise<void>): Promise<void> => {
    while (!ending.signal.aborted) {
      await ask();
      await sleep(pauseMs);
    }
  };
  const loops = Promise.all([
    repeat(HEALTH_PAUSE_MS, async () => {
      const { ms } = await request(`${url}/healthz`, {}, agent);
      observation.stallMs = Math.max(observation.stallMs, ms);
    }),
    repeat(LIST_PAUSE_MS, async () => {
      const { ms, status } = await request(`${url}/v1/apps`, { authorization: `Bearer ${token}` }, agent);
      observation.listMs.push(ms);
      if (status !== 200) observation.failures[status] = (observation.failures[status] ?? 0) + 1;
    }),
  ]);
  return async () => {
    ending.abort();
    await loops;
    agent.destroy();
    return observation;
  };
}

/** A lost connection counts as status 0. */
function request(url: string, headers: Record<string, string>, agent: Agent): Promise<{ ms: number; status: number }> {
  const startedAt = performance.now();
  const { promise, resolve } = Promise.withResolvers<{ ms: number; status: number }>();
  const end = (status: number): void => resolve({ ms: performance.now() - startedAt, status });
  get(url, { headers, agent }, (response) => {
    response.resume();
    response.once("end", () => end(response.statusCode ?? 0));
    response.once("error", () => end(0));
  }).once("error", () => end(0));
  return promise;
}

await serveCommands(async () => ({ commands: createCommands(), close: async () => undefined }));
