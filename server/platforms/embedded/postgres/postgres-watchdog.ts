import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";

export interface WatchdogLog {
  warn(details: object, message: string): void;
}

export interface WatchdogOptions {
  /** Whether the processes of the server run on this machine. */
  measuresMemory: boolean;
  log: WatchdogLog;
  limits?: Partial<PostgresLimits>;
}

export interface PostgresLimits {
  intervalMs: number;
  /** Of one statement. */
  statementMs: number;
  /** Of a transaction in which nothing happens. It keeps its locks, and the rows that others have deleted. */
  idleTransactionMs: number;
  /** Private memory of all connections of apps, in MiB. */
  memoryMb: number;
  /** Of all connections of an app. The server has a fixed number for all apps. */
  locks: number;
  /** Which part of the queue of notifications may be used, between 0 and 1. It belongs to all apps. */
  queueUsage: number;
}

const DEFAULT_LIMITS: PostgresLimits = {
  intervalMs: 2000,
  statementMs: 5 * 60_000,
  idleTransactionMs: 60_000,
  memoryMb: 1024,
  locks: 10_000,
  queueUsage: 0.2,
};

/** A connection of an app. */
interface Backend {
  pid: number;
  name: string;
}

/** Those of roles that the service created; the service itself is another role. */
const APP_BACKENDS = `backend_type = 'client backend' and usename in (select name from service.app_databases)`;

const OVERDUE = `select pid, usename as name, state from pg_stat_activity where ${APP_BACKENDS} and (
  (state = 'active' and query_start < now() - $1 * interval '1 millisecond')
  or (state like 'idle in transaction%' and state_change < now() - $2 * interval '1 millisecond'))`;

const WITH_MANY_LOCKS = `select pid, usename as name from pg_stat_activity where ${APP_BACKENDS} and usename in (
  select usename from pg_stat_activity join pg_locks using (pid) group by usename having count(*) > $1)`;

/** A transaction keeps all later notifications of the server in the queue, if its connection listens. */
const BLOCKING_QUEUE = `select pid, usename as name from pg_stat_activity where ${APP_BACKENDS}
  and xact_start is not null and pg_notification_queue_usage() > $1`;

/**
 * Ends connections of apps that exceed a limit. PostgreSQL has such limits itself, but every role may change its own.
 */
export class PostgresWatchdog {
  readonly #pool: Pool;
  readonly #limits: PostgresLimits;
  readonly #options: WatchdogOptions;
  readonly #stopping = new AbortController();

  constructor(pool: Pool, options: WatchdogOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    void this.#watch(this.#stopping.signal);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#check();
      await sleep(this.#limits.intervalMs, null, { signal, ref: false }).catch(() => null);
    }
  }

  /** The server may be restarting, and then has no connections. The next check comes soon. */
  async #check(): Promise<void> {
    try {
      await this.#endOverdue();
      await this.#boundShared();
      if (this.#options.measuresMemory) await this.#boundMemory();
    } catch (err) {
      if (this.#stopping.signal.aborted) return;
      this.#options.log.warn({ err }, "the connections of apps to PostgreSQL could not be checked");
    }
  }

  async #endOverdue(): Promise<void> {
    const { statementMs, idleTransactionMs } = this.#limits;
    const { rows } = await this.#pool.query<Backend & { state: string }>(OVERDUE, [statementMs, idleTransactionMs]);
    for (const { state, ...backend } of rows)
      await this.#end(backend, state === "active" ? "statement takes too long" : "transaction is idle too long");
  }

  async #boundShared(): Promise<void> {
    const { locks, queueUsage } = this.#limits;
    const locking = await this.#pool.query<Backend>(WITH_MANY_LOCKS, [locks]);
    for (const backend of locking.rows) await this.#end(backend, "too many locks");
    const blocking = await this.#pool.query<Backend>(BLOCKING_QUEUE, [queueUsage]);
    for (const backend of blocking.rows) await this.#end(backend, "too many notifications");
  }

  /** Ends the connections of the app that uses most memory. */
  async #boundMemory(): Promise<void> {
    const { rows } = await this.#pool.query<Backend>(
      `select pid, usename as name from pg_stat_activity where ${APP_BACKENDS}`,
    );
    const bytesOf = new Map<string, number>();
    let total = 0;
    for (const { pid, name } of rows) {
      const kilobytes = await privateKilobytes(pid);
      total += kilobytes;
      bytesOf.set(name, (bytesOf.get(name) ?? 0) + kilobytes);
    }
    if (total <= this.#limits.memoryMb * 1024) return;
    const [largest] = [...bytesOf].toSorted(([, a], [, b]) => b - a);
    for (const backend of rows.filter(({ name }) => name === largest?.[0]))
      await this.#end(backend, "memory is used up");
  }

  async #end({ pid, name }: Backend, reason: string): Promise<void> {
    // The pid may belong to another connection meanwhile.
    await this.#pool.query("select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and usename = $2", [
      pid,
      name,
    ]);
    this.#options.log.warn({ database: name, reason }, "ended a connection of an app to PostgreSQL");
  }
}

/** A process that has ended uses none. */
async function privateKilobytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
