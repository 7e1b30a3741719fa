import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { ConnectionPool } from "./connection-pool.ts";
import type { ServerLog } from "./embedded/embedded-postgres.ts";
import type { Orm } from "./orm.ts";

export interface WatchdogTimes {
  /** Between two questions. In milliseconds. */
  pauseMs: number;
  /** How long a question waits for its response, in milliseconds. */
  responseMs: number;
  /** How long the pool may be without a response, in milliseconds. */
  silenceMs: number;
}

const TIMES: WatchdogTimes = { pauseMs: 2500, responseMs: 5000, silenceMs: 15_000 };

/**
 * Asks the database through the pool periodically. If the pool has not responded for 15 seconds and a connection beside it
 * does, the connections of the pool are replaced: they are lost, or in use without end.
 */
export class PoolWatchdog implements AsyncDisposable {
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(
    database: { orm: Orm; connections: ConnectionPool; url: string },
    log: Pick<ServerLog, "warn">,
    times = TIMES,
  ) {
    this.#running = watch(database, log, times, this.#stopping.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}

async function watch(
  { orm, connections, url }: { orm: Orm; connections: ConnectionPool; url: string },
  log: Pick<ServerLog, "warn">,
  { pauseMs, responseMs, silenceMs }: WatchdogTimes,
  signal: AbortSignal,
): Promise<void> {
  let lastResponse = performance.now();
  while (!signal.aborted) {
    const asked = orm.em.fork().execute("select 1");
    if (await responds(asked, responseMs)) lastResponse = performance.now();
    const silentMs = performance.now() - lastResponse;
    if (silentMs >= silenceMs && (await responds(askBeside(url, responseMs), responseMs))) {
      const { open, used, waiting } = connections.counts;
      connections.replaceConnections();
      log.warn(
        { silentMs: Math.round(silentMs), open, used, waiting },
        "the connection pool did not respond, and the database did: its connections are replaced",
      );
      lastResponse = performance.now();
    }
    await sleep(pauseMs, null, { signal }).catch(() => undefined);
  }
}

/** Whether a question has a response in time. A later one is ignored. */
async function responds(asked: Promise<unknown>, responseMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), responseMs);
  const answered = asked.then(
    () => true,
    () => false,
  );
  const isInTime = await Promise.race([answered, late]);
  clearTimeout(timer);
  return isInTime;
}

async function askBeside(url: string, responseMs: number): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: responseMs,
    query_timeout: responseMs,
  });
  // The error of a lost connection is the error of its statement too.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select 1");
  } finally {
    await client.end();
  }
}
