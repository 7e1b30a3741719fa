import type { Db } from "../database-types.ts";
import { AgentHostError, type AgentHosts, type ConnectedHost } from "../ports/agent-host.ts";
import { backOffMs } from "../shared/back-off.ts";
import { KeyedLock } from "../shared/keyed-lock.ts";
import type { ValueCipher } from "../shared/value-cipher.ts";
import { GATEWAY_COLUMNS, type GatewayRow, toHostSettings } from "./gateway-settings.ts";
import { statusOfError } from "./server-status.ts";
import { storeHostedAgents, type StoreHostedAgentsDeps } from "./store-hosted-agents.ts";

export interface ServerMonitorDeps extends StoreHostedAgentsDeps {
  db: Db;
  hosts: AgentHosts;
  tokenCipher: ValueCipher;
  /** Called with an unexpected error, for example of the database. */
  report(error: unknown, serverId: string): void;
}

interface MonitoredServer extends GatewayRow {
  status: string;
  statusMessage: string | null;
}

/** The time between two lists of the agents of a server, in milliseconds: while it is ready, and while it is not. */
const READY_INTERVAL_MS = 60_000;
const RETRY_INTERVAL = { first: 2000, max: 300_000 };
/** After responses that are invalid, or do not come in time, the time doubles up to this one: to read them costs as much as valid ones. */
/** So many transactions at once store agents, so that enough connections to the database remain for calls. */
const STORE_CONCURRENCY = 3;

/**
 * Keeps the connections to all gateways of a database, and stores in it which agents they have and whether they can be
 * reached. So a list of servers needs no gateway. One process of a database monitors.
 */
export class ServerMonitor implements AsyncDisposable {
  readonly #deps: ServerMonitorDeps;
  readonly #stop = new AbortController();
  readonly #stores = new KeyedLock();
  /** By server and connection: the lists that are being read, and when the next ones are due. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #dueAt = new Map<string, number>();
  /** How many lists in a row had no valid response, of servers with such a list. */
  readonly #invalidLists = new Map<string, number>();
  #stored = 0;

  constructor(deps: ServerMonitorDeps) {
    this.#deps = deps;
  }

  /** Starts what is due for each server. It waits for no gateway. */
  async check(): Promise<void> {
    const { db, hosts, tokenCipher } = this.#deps;
    const servers: MonitoredServer[] = await db
      .selectFrom("agent_servers as server")
      .select(GATEWAY_COLUMNS)
      .select(["server.status", "server.status_message as statusMessage"])
      .where("server.kind", "!=", "managed")
      .execute();
    if (this.#stop.signal.aborted) return;
    hosts.closeOthers(new Set(servers.map(({ id }) => id)));
    const keys = new Set(servers.map(keyOf));
    for (const byKey of [this.#dueAt, this.#invalidLists])
      for (const key of byKey.keys()) if (!keys.has(key)) byKey.delete(key);
    for (const server of servers) this.#start(server, hosts.open(toHostSettings(server, tokenCipher)));
  }

  /** Waits until no agents are being listed. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Stops to monitor. The connections stay open. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the service is stopping"));
    await this.idle();
  }

  #start(server: MonitoredServer, host: ConnectedHost): void {
    const key = keyOf(server);
    if (this.#running.has(key)) return;
    const isDue = performance.now() >= (this.#dueAt.get(key) ?? 0);
    // A lost connection is known without a request, so it is stored at once.
    const isLost = host.problem instanceof AgentHostError && !isStored(server, host.problem);
    if (!isDue && !isLost) return;
    const finish = (intervalMs: number): void => {
      // The random part spreads the lists of servers whose connections were opened at the same time.
      this.#dueAt.set(key, performance.now() + intervalMs * (0.75 + Math.random() / 2));
      this.#running.delete(key);
    };
    this.#running.set(key, this.#synchronize(server, host).then(finish));
  }

  /** @returns the time until the next list, in milliseconds */
  async #synchronize(server: MonitoredServer, host: ConnectedHost): Promise<number> {
    try {
      const hosted = await host.listAgents(this.#stop.signal);
      this.#invalidLists.delete(keyOf(server));
      await this.#store(() => storeHostedAgents(this.#deps, server, hosted));
      return READY_INTERVAL_MS;
    } catch (error) {
      await this.#recordFailure(server, error).catch((failure: unknown) => this.#deps.report(failure, server.id));
      return this.#retryInterval(keyOf(server), error);
    }
  }

  #retryInterval(key: string, error: unknown): number {
    const hasResponse = error instanceof AgentHostError && ["invalid_response", "timed_out"].includes(error.code);
    const lists = hasResponse ? (this.#invalidLists.get(key) ?? 0) + 1 : 0;
    // A connection that fails at once costs nothing, and does not say that the gateway is valid.
    if (hasResponse) this.#invalidLists.set(key, lists);
    return backOffMs(Math.max(0, lists - 1), RETRY_INTERVAL);
  }

  /** The stored agents stay as they are. */
  async #recordFailure(server: MonitoredServer, error: unknown): Promise<void> {
    if (this.#stop.signal.aborted) return;
    if (!(error instanceof AgentHostError)) throw error;
    // The service itself sends too many calls, which says nothing about the gateway.
    if (error.code === "overloaded" || isStored(server, error)) return;
    const status = statusOfError(error.code);
    const since = status === server.status ? {} : { status_since: new Date().toISOString() as never };
    const update = this.#deps.db
      .updateTable("agent_servers")
      .set({ status, status_message: error.message, ...since })
      .where("id", "=", server.id)
      .where("connection_version", "=", server.connectionVersion);
    await this.#store(() => update.execute());
  }

  async #store(work: () => Promise<unknown>): Promise<void> {
    await this.#stores.run([String(this.#stored++ % STORE_CONCURRENCY)], work);
  }
}

function keyOf({ id, connectionVersion }: MonitoredServer): string {
  return `${id} ${connectionVersion}`;
}

function isStored({ status, statusMessage }: MonitoredServer, error: AgentHostError): boolean {
  return status === statusOfError(error.code) && statusMessage === error.message;
}
