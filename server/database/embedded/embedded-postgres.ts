import { closeSync, openSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LogLimit } from "../../../domain/shared/log-limit.ts";
import { lockFolder } from "../../files/folder-lock.ts";
import { createCluster, SUPERUSER } from "./create-cluster.ts";
import { type LauncherOptions, PostgresLauncher } from "./postgres-launcher.ts";
import { findPostgres } from "./postgres-package.ts";
import { PostgresServer, type ServerOptions, type ServerSettings } from "./postgres-server.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** After a run of this duration the server counts as healthy, and the pause is reset. */
const HEALTHY_MS = 30_000;

/** The database that `initdb` creates. */
const DATABASE = "postgres";

/** The folder of the embedded database in the service's data folder. */
export function databaseFolder(dataDirectory: string): string {
  return path.join(dataDirectory, "database");
}

/** The connections beside those of the ORM: of the job queue, the change feed, and programs beside the service. */
const OTHER_CONNECTIONS = 30;

/** The settings of a server to which the ORM has `poolSize` connections. */
export function settingsOfPool(poolSize: number): ServerSettings {
  return { max_connections: String(poolSize + OTHER_CONNECTIONS) };
}

export interface ServerLog {
  debug(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export interface EmbeddedPostgresOptions extends LauncherOptions {
  /** Settings that differ from the service's own choice. */
  settings?: ServerSettings;
  /** That of the superuser, for a server that requires one. */
  password?: string;
}

/** A PostgreSQL server that runs as a child of this process and keeps its data in one folder. */
export class EmbeddedPostgres implements AsyncDisposable {
  /** A connection string that works in this process. */
  readonly url: string;
  /** Its socket; valid in this process only. */
  readonly socketPath: string;
  readonly #options: ServerOptions;
  readonly #log: ServerLog;
  readonly #release: () => void;
  readonly #stopping = new AbortController();
  readonly #supervision: Promise<void>;
  #server: PostgresServer;

  private constructor(
    server: PostgresServer,
    { host, ...options }: ServerOptions & { host: string },
    log: ServerLog,
    release: () => void,
  ) {
    this.#server = server;
    this.#options = options;
    this.#log = log;
    this.#release = release;
    this.url = options.url;
    this.socketPath = path.join(host, SOCKET_NAME);
    this.#supervision = this.#supervise();
  }

  /**
   * Starts the server on `folder`, which is created if it does not exist. It ends with this process, however this
   * process ends. Committed transactions survive a crash.
   *
   * @throws {FolderInUse} when another process has started a server on the folder
   * @throws {DatabaseUnavailable} when the server cannot be started
   */
  static async start(
    folder: string,
    log: ServerLog,
    { settings = {}, password, ...programs }: EmbeddedPostgresOptions = {},
  ): Promise<EmbeddedPostgres> {
    const native = findPostgres();
    using opening = new DisposableStack();
    opening.adopt(lockFolder(folder), (lock) => lock.release());
    const launcher = new PostgresLauncher(native, folder, programs);
    const data = path.join(folder, "data");
    await createCluster(launcher, { root: folder, data, native });
    const address = opening.adopt(socketAddress(launcher.socketFolder), (opened) => opened.release());
    const options = {
      launcher,
      data,
      url: urlOf(address, password),
      settings,
      onLine: lineReporter(log),
    };
    const server = await PostgresServer.start(options, new AbortController().signal);
    const opened = opening.move();
    return new EmbeddedPostgres(server, { ...options, host: address.host }, log, () => opened.dispose());
  }

  /** The address of a server that another process of this machine has started on `folder`. */
  static connect(folder: string, password?: string): { url: string; release(): void } {
    const address = socketAddress(path.join(folder, "run"));
    return { url: urlOf(address, password), release: () => address.release() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#server.stop();
    await this.#supervision;
    // A restart may have succeeded while the stop began.
    await this.#server.stop();
    this.#release();
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#stopping;
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const startedAt = Date.now();
      const reason = await this.#server.ended;
      if (signal.aborted) return;
      this.#log.error({ reason }, "PostgreSQL has ended; the service starts it again");
      if (Date.now() - startedAt > HEALTHY_MS) pauseMs = FIRST_PAUSE_MS;
      pauseMs = await this.#restart(pauseMs);
    }
  }

  /** Tries until the server runs again or the service stops. Returns the pause before the next attempt. */
  async #restart(firstPauseMs: number): Promise<number> {
    const { signal } = this.#stopping;
    let pauseMs = firstPauseMs;
    while (!signal.aborted) {
      await sleep(pauseMs, null, { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      if (signal.aborted) return pauseMs;
      try {
        this.#server = await PostgresServer.start(this.#options, signal);
        this.#log.warn({}, "PostgreSQL runs again");
        return pauseMs;
      } catch (err) {
        this.#log.error({ err }, "PostgreSQL could not be started again");
      }
    }
    return pauseMs;
  }
}

function urlOf({ host }: SocketAddress, password?: string): string {
  const user = password === undefined ? SUPERUSER : `${SUPERUSER}:${encodeURIComponent(password)}`;
  return `postgres://${user}@${encodeURIComponent(host)}/${DATABASE}`;
}

/** Clients cause lines of the level FATAL, such as one for each wrong password. */
const FATAL_LINES_PER_MINUTE = 20;

function lineReporter(log: ServerLog): (line: string) => void {
  const limit = new LogLimit(FATAL_LINES_PER_MINUTE);
  return (line) => {
    const [level = ""] = /^(WARNING|ERROR|FATAL|PANIC):/.exec(line) ?? [];
    const fields = level === "FATAL:" ? limit.admit(level) : {};
    if (level === "") log.debug({ postgres: line }, "PostgreSQL");
    else if (fields !== null) log.warn({ postgres: line, ...fields }, "PostgreSQL reports a problem");
  };
}

/** The kernel's bound on the path of a Unix domain socket, in bytes (`sun_path` without the final NUL). */
const LONGEST_PATH = 107;
const SOCKET_NAME = ".s.PGSQL.5432";

interface SocketAddress {
  /** The folder of the socket, which a PostgreSQL client accepts as its host. It is valid in this process only. */
  host: string;
  release(): void;
}

/**
 * Returns a path of `folder` that is short enough for a socket. If the real path is too long, it leads through an open
 * file descriptor.
 */
function socketAddress(folder: string): SocketAddress {
  if (Buffer.byteLength(path.join(folder, SOCKET_NAME)) <= LONGEST_PATH)
    return { host: folder, release: () => undefined };
  const descriptor = openSync(folder, "r");
  return { host: `/proc/self/fd/${descriptor}`, release: () => closeSync(descriptor) };
}
