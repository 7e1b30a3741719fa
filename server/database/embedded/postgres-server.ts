import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import { endLeftoverProcesses } from "./leftover-processes.ts";
import { type LaunchedProgram, type PostgresLauncher, startFailure } from "./postgres-launcher.ts";

/** Recovery after a crash is short, because `max_wal_size` bounds what it reads. */
const READY_MS = 60_000;
const CONNECT_MS = 2000;
/** The server logs this line when its recovery is complete. Before that, it rejects connections. */
const READY_LINE = "database system is ready to accept connections";
/** A fast shutdown rolls transactions back and writes a checkpoint; an immediate one leaves that to the next start. */
const SHUTDOWN_STEPS = [
  { signal: "SIGINT", graceMs: 10_000 },
  { signal: "SIGQUIT", graceMs: 6000 },
  { signal: "SIGKILL", graceMs: 2000 },
] as const;

/** The settings of a server with few connections on a machine that it shares with builds and apps. */
const SETTINGS = {
  listen_addresses: "",
  // Relative to the data folder, so the bound on the length of a socket's path is never reached.
  unix_socket_directories: "../run",
  unix_socket_permissions: "0700",
  shared_buffers: "32MB",
  max_connections: "40",
  min_wal_size: "32MB",
  max_wal_size: "256MB",
  // Each backend reads files itself. The alternative, three I/O worker processes, would use more memory.
  io_method: "sync",
  // After a crash, one system call syncs the whole file system, instead of one call for each file.
  recovery_init_sync_method: "syncfs",
  max_worker_processes: "2",
  max_parallel_workers: "0",
  max_logical_replication_workers: "0",
  autovacuum_max_workers: "2",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "",
  // The client reports failed statements. In the log they would reveal values, such as hashes of tokens.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
} as const;

export type ServerSettings = Readonly<Record<string, string>>;

export interface ServerOptions {
  launcher: PostgresLauncher;
  data: string;
  /** A connection string for the server. */
  url: string;
  /** Settings that differ from the service's own choice. */
  settings: ServerSettings;
  onLine(line: string): void;
}

/** One process of the PostgreSQL server. It is never restarted; a new one replaces it. */
export class PostgresServer {
  /** Resolves with the reason when the process ends. Never rejects. */
  readonly ended: Promise<string>;
  readonly #program: LaunchedProgram;
  #hasEnded = false;

  private constructor(program: LaunchedProgram) {
    this.#program = program;
    this.ended = program.ended.then(({ reason }) => {
      this.#hasEnded = true;
      return reason;
    });
  }

  /**
   * Starts the server. When this returns, it accepts connections.
   *
   * @param signal - ends an attempt that still waits for the first connection
   * @throws {DatabaseUnavailable} when the server ends, or accepts no connection for a minute
   */
  static async start(
    { launcher, data, url, settings, onLine }: ServerOptions,
    signal: AbortSignal,
  ): Promise<PostgresServer> {
    await endLeftoverProcesses(data);
    const args = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const recovered = Promise.withResolvers<void>();
    const program = await launcher.start("postgres", data, args, (line) => {
      onLine(line);
      if (line.includes(READY_LINE)) recovered.resolve();
    });
    const server = new PostgresServer(program);
    await server.#waitUntilReady(recovered.promise, url, signal);
    return server;
  }

  /** Stops the server with a clean shutdown, or by force when that takes too long. */
  async stop(): Promise<void> {
    for (const { signal, graceMs } of SHUTDOWN_STEPS) {
      if (this.#hasEnded) return;
      this.#program.child.kill(signal);
      const timeout = new AbortController();
      await Promise.race([this.ended, sleep(graceMs, null, { signal: timeout.signal }).catch(() => undefined)]);
      timeout.abort();
    }
  }

  async #waitUntilReady(recovered: Promise<void>, url: string, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const limits = AbortSignal.any([signal, waiting.signal]);
    const timeout = sleep(READY_MS, null, { signal: limits }).catch(() => undefined);
    await Promise.race([recovered, this.ended, timeout]);
    waiting.abort();
    const failure = this.#hasEnded ? null : await connectionFailure(url);
    if (this.#hasEnded) throw startFailure(await this.ended);
    if (failure === null) return;
    await this.stop();
    throw new DatabaseUnavailable(`The embedded PostgreSQL accepts no connections: ${failure}`);
  }
}

/** Returns why no connection can be made; `null` when one can. */
async function connectionFailure(url: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  // Errors after the connection was made, such as its end, are of no interest here.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.end();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
