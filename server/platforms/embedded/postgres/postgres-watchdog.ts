import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { LogLimit } from "../../../../domain/shared/log-limit.ts";
import { signalIfExists } from "../../../sandbox/kill-process.ts";
import { readStat } from "../../../sandbox/process-tree.ts";
import { measureConnections } from "./connection-memory.ts";
import { READER_SUFFIX } from "./reader-role.ts";

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
  /** Of a transaction. As long as it runs, the server keeps the status of all later transactions of all apps. */
  transactionMs: number;
  /** Private memory of all connections of apps, in MiB. */
  memoryMb: number;
  /** Of all transactions of an app, and at most a quarter of those that the server has for all apps. */
  locks: number;
  /** Which part of the queue of notifications may be used, between 0 and 1. It belongs to all apps. */
  queueUsage: number;
  /** How much a database may grow within a minute, in MiB. The storage of the plan is checked less often. */
  growthMb: number;
  /** How long an app that has taken too many locks, or grown too much, cannot connect. */
  closedMs: number;
}

const DEFAULT_LIMITS: PostgresLimits = {
  intervalMs: 250,
  statementMs: 5 * 60_000,
  idleTransactionMs: 60_000,
  transactionMs: 60 * 60_000,
  memoryMb: 1024,
  locks: 10_000,
  queueUsage: 0.2,
  growthMb: 2048,
  closedMs: 30_000,
};

/** The number of this field in `/proc/<pid>/stat`. */
const PARENT = 4;
const WINDOW_MS = 60_000;
/** How many connections one app may have. */
export const CONNECTIONS_PER_APP = 20;
/** For each app. */
const WARNINGS_PER_MINUTE = 10;
const QUERY_MS = 30_000;
/** Memory is measured more often when a quarter of it is used. */
const CHECKS_OF_MEMORY = 5;
/** Sizes are measured less often: each measurement reads a folder. */
const CHECKS_PER_SIZE = 8;

interface Backend {
  pid: number;
  /** Of its role and its database. */
  name: string;
  /** Why it must end; `null` if it is within all limits. */
  reason: string | null;
}

interface KnownBackend extends Backend {
  role: number;
}

const TOO_MANY_LOCKS = "too many locks";
const TOO_MUCH_GROWTH = "the database grows too fast";
const STATEMENT_TOO_LONG = "statement takes too long";
const TRANSACTION_TOO_LONG = "transaction takes too long";

/** A role whose statements and transactions may take long, and whose database may grow fast, until this is disposed of. */
export interface LongWork extends Disposable {
  /** Why its connections were ended nevertheless; `null` if they were not. */
  reason: string | null;
}

/**
 * The connections of apps. It calls functions instead of reading views, so that it needs no locks itself: an app may have taken all of
 * them. The names of roles are in a cache of the connection from the first check with them.
 */
const BACKENDS = `select activity.pid, usesysid as role, pg_get_userbyid(usesysid) as name, case
    when locks > least($4, current_setting('max_locks_per_transaction')::int
      * current_setting('max_connections')::int / 4) then '${TOO_MANY_LOCKS}'
    -- A transaction keeps all later notifications of the server in the queue, if its connection listens.
    when xact_start is not null and pg_notification_queue_usage() > $5 then 'too many notifications'
    when state in ('active', 'fastpath function call') and query_start < now() - $1 * interval '1 millisecond'
      then '${STATEMENT_TOO_LONG}'
    when state like 'idle in transaction%' and state_change < now() - $2 * interval '1 millisecond'
      then 'transaction is idle too long'
    when xact_start < now() - $3 * interval '1 millisecond' then '${TRANSACTION_TOO_LONG}'
  end as reason
  from pg_stat_get_activity(null) as activity
  -- Those of a serializable transaction may outlive its connection, and others belong to no database.
  left join (
    select coalesce(nullif(lock.database, 0), holder.datid) as datid, count(*) as locks
      from pg_lock_status() as lock left join pg_stat_get_activity(null) as holder using (pid) group by 1
  ) as held on held.datid = activity.datid
  where backend_type = 'client backend' and pg_get_userbyid(usesysid) ~ '^app_[0-9a-f]{20}(${READER_SUFFIX})?$'`;

/** The pid may belong to another connection meanwhile. */
const END = `select pg_terminate_backend(pid) from pg_stat_get_activity(null)
  where (pid, usesysid) in (select * from unnest($1::int[], $2::oid[]))`;

/** Apps that could not connect when the service ended. */
const CLOSED = `select rolname as name from pg_roles
  where rolconnlimit = 0 and rolname in (select name from service.app_databases)`;

/**
 * Ends connections of apps that exceed a limit. PostgreSQL has such limits itself, but every role may change its own.
 */
export class PostgresWatchdog {
  /** One connection, which stays open: new ones are slow to get while an app keeps the server busy. */
  readonly #pool: pg.Pool;
  readonly #limits: PostgresLimits;
  readonly #options: WatchdogOptions;
  readonly #stopping = new AbortController();
  readonly #warnings = new LogLimit(WARNINGS_PER_MINUTE);
  readonly #growth = new GrowthMeter();
  /** The apps that cannot connect, and until when. */
  readonly #closed = new Map<string, number>();
  readonly #longWork = new Map<string, LongWork>();
  readonly #watching: Promise<unknown>;
  #checks = 0;
  /** The process of the server, of which those of connections are children. */
  #server = 0;

  constructor(url: string, options: WatchdogOptions) {
    this.#pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, query_timeout: QUERY_MS });
    this.#pool.on("error", () => undefined);
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { signal } = this.#stopping;
    this.#watching = Promise.all([this.#watch(signal), options.measuresMemory && this.#watchMemory(signal)]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
    await this.#pool.end();
  }

  /** Permits the service's own work with a database, which has limits of its own. */
  permitLongWork(role: string): LongWork {
    const work = { reason: null, [Symbol.dispose]: () => void this.#longWork.delete(role) };
    this.#longWork.set(role, work);
    return work;
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
      if (this.#checks === 0)
        for (const { name } of (await this.#pool.query<{ name: string }>(CLOSED)).rows) this.#closed.set(name, 0);
      const backends = await this.#readBackends();
      await this.#end(backends.filter((backend) => this.#mustEnd(backend)));
      this.#server = parentOf(backends[0]?.pid) || this.#server;
      if (this.#checks++ % CHECKS_PER_SIZE === 0) await this.#boundGrowth(backends);
      for (const [name, until] of this.#closed) if (until < Date.now()) await this.#reopen(name);
    } catch (err) {
      this.#reportFailure(err);
    }
  }

  #reportFailure(err: unknown): void {
    if (this.#stopping.signal.aborted || this.#warnings.admit("check") === null) return;
    this.#options.log.warn({ err }, "the connections of apps to PostgreSQL could not be checked");
  }

  #mustEnd({ name, reason }: Backend): boolean {
    if (reason === STATEMENT_TOO_LONG || reason === TRANSACTION_TOO_LONG) return !this.#longWork.has(name);
    return reason !== null;
  }

  async #readBackends(): Promise<KnownBackend[]> {
    const { statementMs, idleTransactionMs, transactionMs, locks, queueUsage } = this.#limits;
    const values = [statementMs, idleTransactionMs, transactionMs, locks, queueUsage];
    return (await this.#pool.query<KnownBackend>({ name: "backends", text: BACKENDS, values })).rows;
  }

  /** Without queries: a busy server responds late. Of eight attacks beside builds, the largest held 1011 MiB instead of 2022. */
  async #watchMemory(signal: AbortSignal): Promise<void> {
    const { intervalMs, memoryMb } = this.#limits;
    while (!signal.aborted) {
      const isMuch = this.#boundMemory() > (memoryMb * 1024) / 4;
      await sleep(isMuch ? intervalMs / CHECKS_OF_MEMORY : intervalMs, null, { signal, ref: false }).catch(() => null);
    }
  }

  /** Ends the connections of the app that uses most memory. Returns how much was used by all, in KiB. */
  #boundMemory(): number {
    const connections = measureConnections(this.#server);
    const kilobytesOf = new Map<string, number>();
    let total = 0;
    for (const { name, kilobytes } of connections) {
      total += kilobytes;
      kilobytesOf.set(name, (kilobytesOf.get(name) ?? 0) + kilobytes);
    }
    if (total <= this.#limits.memoryMb * 1024) return total;
    const [largest] = [...kilobytesOf].toSorted(([, a], [, b]) => b - a);
    const ended = ofApp(connections, largest?.[0], "memory is used up");
    try {
      // As `pg_terminate_backend` does.
      for (const { pid } of ended) signalIfExists(pid, "SIGTERM");
    } catch (err) {
      this.#reportFailure(err);
    }
    this.#report(ended);
    return total;
  }

  async #boundGrowth(backends: KnownBackend[]): Promise<void> {
    const names = [...new Set(backends.map(({ name }) => name))].filter((name) => !this.#longWork.has(name));
    if (names.length === 0) return;
    const select = "select datname as name, pg_database_size(oid) as bytes from pg_database where datname = any($1)";
    const { rows } = await this.#pool.query<{ name: string; bytes: string }>(select, [names]);
    for (const { name, bytes } of rows)
      if (this.#growth.measure(name, Number(bytes)) > this.#limits.growthMb * 1024 ** 2)
        await this.#end(ofApp(backends, name, TOO_MUCH_GROWTH));
  }

  async #end(backends: KnownBackend[]): Promise<void> {
    if (backends.length === 0) return;
    const values = [backends.map(({ pid }) => pid), backends.map(({ role }) => role)];
    await this.#pool.query({ name: "end", text: END, values });
    this.#report(backends);
    for (const [name, [first]] of Map.groupBy(backends, (each) => each.name)) {
      const isOwner = !name.endsWith(READER_SUFFIX);
      const reason = first?.reason;
      if (isOwner && (reason === TOO_MANY_LOCKS || reason === TOO_MUCH_GROWTH)) await this.#close(name);
    }
  }

  #report(backends: readonly Backend[]): void {
    for (const [name, ended] of Map.groupBy(backends, (each) => each.name)) {
      const reason = ended[0]?.reason ?? "";
      const work = this.#longWork.get(name);
      if (work !== undefined) work.reason = reason;
      const fields = this.#warnings.admit(name);
      const details = { database: name, reason, connections: ended.length, ...fields };
      if (fields !== null) this.#options.log.warn(details, "ended connections of an app to PostgreSQL");
    }
  }

  /** Clients get the error that the role has too many connections. */
  async #close(name: string): Promise<void> {
    this.#closed.set(name, Date.now() + this.#limits.closedMs);
    await this.#pool.query(`alter role "${name}" connection limit 0`);
  }

  async #reopen(name: string): Promise<void> {
    const { rowCount } = await this.#pool.query("select from pg_roles where rolname = $1", [name]);
    if (rowCount === 1) await this.#pool.query(`alter role "${name}" connection limit ${CONNECTIONS_PER_APP}`);
    this.#closed.delete(name);
  }
}

function ofApp<T extends { name: string }>(connections: readonly T[], name: string | undefined, reason: string) {
  return connections.filter((each) => each.name === name).map((each) => ({ ...each, reason }));
}

/** Returns 0 if there is no such process. */
function parentOf(pid = 0): number {
  return Number(readStat(pid)?.[PARENT] ?? 0);
}

/** Measures how much databases have grown within the current minute. */
class GrowthMeter {
  readonly #smallest = new Map<string, number>();
  #startedAt = 0;

  /** Returns how many bytes the database is larger than it was when it was smallest in this minute. */
  measure(name: string, bytes: number): number {
    if (Date.now() - this.#startedAt > WINDOW_MS) {
      this.#smallest.clear();
      this.#startedAt = Date.now();
    }
    const smallest = Math.min(this.#smallest.get(name) ?? bytes, bytes);
    this.#smallest.set(name, smallest);
    return bytes - smallest;
  }
}
