import { setTimeout as delay } from "node:timers/promises";
import type { LoggedApp, RuntimeLogRecord, RuntimeLogs } from "../../../domain/ports/runtime-logs.ts";
import type { EdgeClient } from "./edge-client.ts";
import type { EdgeConnection } from "./edge-connection.ts";
import { FOLLOW_PATH, MAX_EDGES } from "./edge-methods.ts";

const READ_PATH = "/runtimeLogs/read";
const RECONNECT_MS = 1000;
/** Ids of edges are microseconds since 1970. Counted from here, they leave room for the number of an edge until 2041. */
const FIRST_ID = Date.UTC(2023, 3, 1) * 1000;

type Listener = (records: readonly RuntimeLogRecord[]) => void;

/**
 * Reads and follows the logs of apps. Every edge stores what its own processes of an app print. The records of an edge that cannot
 * be reached are absent until it can.
 */
export class RemoteRuntimeLogs implements RuntimeLogs {
  readonly #client: EdgeClient;
  /** The number of each edge, which is the same in all processes. */
  readonly #numbers: ReadonlyMap<EdgeConnection, number>;

  constructor(client: EdgeClient) {
    this.#client = client;
    const sorted = client.edges.toSorted((a, b) => (a.host < b.host ? -1 : 1));
    this.#numbers = new Map(sorted.map((edge, number) => [edge, number]));
  }

  async read({ id, slug }: LoggedApp): Promise<RuntimeLogRecord[]> {
    const logs = (await this.#client.callReachable(READ_PATH, [{ id, slug }])) as Map<
      EdgeConnection,
      RuntimeLogRecord[]
    >;
    const records = [...logs].flatMap(([edge, own]) => this.#withUniqueIds(edge, own));
    return records.toSorted((a, b) => a.id - b.id);
  }

  listen({ id, slug }: LoggedApp, listener: Listener): () => void {
    const stop = new AbortController();
    for (const edge of this.#client.edges)
      void followLog(edge, { id, slug }, (records) => listener(this.#withUniqueIds(edge, records)), stop.signal);
    return () => stop.abort();
  }

  /** Two edges can give the same id. The number of the edge, added as its lowest bits, makes it unique and keeps the order in time. */
  #withUniqueIds(edge: EdgeConnection, records: readonly RuntimeLogRecord[]): readonly RuntimeLogRecord[] {
    if (this.#client.edges.length === 1) return records;
    const number = this.#numbers.get(edge) ?? 0;
    return records.map((record) => ({ ...record, id: (record.id - FIRST_ID) * MAX_EDGES + number }));
  }
}

/** Follows the log of an app on one edge, and connects again after a lost connection, also if the edge was away from the start. */
async function followLog(edge: EdgeConnection, app: LoggedApp, listener: Listener, signal: AbortSignal): Promise<void> {
  const startId = Date.now() * 1000;
  let last: number | null = null;
  const pass = (records: readonly RuntimeLogRecord[]): void => {
    const fresh = records.filter(({ id }) => last === null || id > last);
    last = fresh.at(-1)?.id ?? last;
    if (fresh.length > 0 && !signal.aborted) listener(fresh);
  };
  while (!signal.aborted) {
    try {
      const lines = await edge.openLines(FOLLOW_PATH, app, signal);
      // What was printed before the edge began to send.
      pass((await edge.call(READ_PATH, [app], signal)) as RuntimeLogRecord[]);
      for await (const line of lines) if (line !== "") pass(JSON.parse(line));
    } catch {
      // The connection was lost, or the listener has gone. What an edge that comes later has stored of before is not new.
      last ??= startId;
    }
    if (signal.aborted) return;
    await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
  }
}
