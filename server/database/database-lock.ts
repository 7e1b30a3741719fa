import { addAbortListener } from "node:events";
import { Socket } from "node:net";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { toDatabaseUnavailable } from "./database-unavailable.ts";

/** Another service process uses the database. `message` says which one, and what is supported. */
export class DatabaseInUse extends Error {
  override readonly name = "DatabaseInUse";
}

export interface DatabaseLockOptions {
  url: string;
  /** Whether others that share the lock may have it too: the edges of a cluster. */
  isShared?: boolean;
  /** Called when another process has the lock, and this one waits for a short time. */
  onWait: () => void;
  /** Called once when the lock was lost and another process has it now. This process must stop. */
  onTaken: (error: DatabaseInUse) => void;
}

/** Any number that no other program on the database uses for an advisory lock. */
const LOCK = 7_240_118_212;
/** Longer than PostgreSQL takes to notice that the machine of an earlier process is gone: see KEEP_ALIVE. */
const WAIT_MS = 12_000;
const RETRY_MS = 250;
const RECONNECT_MS = 1000;
const REPLY_TIMEOUT_MS = 10_000;
const KEEP_ALIVE = "set tcp_keepalives_idle = 3; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3";

/**
 * Keeps a second service process away from the database. The files of the apps are in the data folder of one process, so
 * another process would take deployments and deletions that it cannot carry out. The edges of a cluster have no such files, so they
 * share the lock.
 *
 * The lock belongs to a database session: PostgreSQL releases it when the process ends, however it ends. When only the
 * connection is lost, this process takes the lock again.
 */
export class DatabaseLock implements AsyncDisposable {
  readonly #options: DatabaseLockOptions;
  readonly #closing: AbortController;
  readonly #ended: Promise<void>;

  private constructor(options: DatabaseLockOptions, session: Session, closing: AbortController) {
    this.#options = options;
    this.#closing = closing;
    this.#ended = this.#hold(session);
  }

  /**
   * Waits for an earlier process that is ending.
   *
   * @throws {DatabaseInUse}
   * @throws {DatabaseUnavailable}
   */
  static async acquire(options: DatabaseLockOptions): Promise<DatabaseLock> {
    const closing = new AbortController();
    return new DatabaseLock(options, await openLocked(options, closing.signal), closing);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  async #hold(first: Session): Promise<void> {
    const { signal } = this.#closing;
    let session: Session | null = first;
    while (!signal.aborted) {
      if (session === null) await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
      else await session.ended;
      session = signal.aborted ? null : await this.#takeAgain();
    }
  }

  /** Returns `null` while the database is out of reach. */
  async #takeAgain(): Promise<Session | null> {
    try {
      return await openLocked(this.#options, this.#closing.signal);
    } catch (error) {
      if (!(error instanceof DatabaseInUse)) return null;
      this.#closing.abort();
      this.#options.onTaken(error);
      return null;
    }
  }
}

export interface Session {
  /** Resolves when the connection has ended, for any reason. */
  ended: Promise<void>;
}

/** Opens a session that holds the lock of the database. */
async function openLocked(
  { url, isShared = false, onWait }: DatabaseLockOptions,
  signal: AbortSignal,
): Promise<Session> {
  const tryOnce = (client: pg.Client) => (isShared ? tryLockShared : tryLock)(client, LOCK);
  return await openSession(url, signal, async (client) => {
    if (await tryOnce(client)) return;
    onWait();
    await waitForLock(client, tryOnce, signal);
  });
}

/**
 * Opens a database session that ends when its process ends, however it ends, or when `signal` is aborted.
 *
 * @param prepare - takes the locks of the session
 * @throws {DatabaseUnavailable}
 */
export async function openSession(
  url: string,
  signal: AbortSignal,
  prepare: (client: pg.Client) => Promise<void>,
): Promise<Session> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    fallback_application_name: `service on ${hostname()}, process ${process.pid}`,
    stream: () => socket,
    connectionTimeoutMillis: REPLY_TIMEOUT_MS,
    query_timeout: REPLY_TIMEOUT_MS,
    keepAlive: true,
  });
  // Without a listener, an error between two statements would end the process.
  client.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => client.once("end", resolve));
  // Closing the client would wait for the database, which may be out of reach.
  const aborting = addAbortListener(signal, () => socket.destroy());
  socket.once("close", () => aborting[Symbol.dispose]());
  try {
    await connect(client);
    await prepare(client);
    return { ended };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function connect(client: pg.Client): Promise<void> {
  try {
    await client.connect();
    await client.query(KEEP_ALIVE);
  } catch (cause) {
    throw toDatabaseUnavailable("DATABASE_URL points to a database that cannot be used", cause);
  }
}

async function waitForLock(
  client: pg.Client,
  tryOnce: (client: pg.Client) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  do {
    if (performance.now() > deadline) throw new DatabaseInUse(describe(await findHolder(client)));
    await delay(RETRY_MS, undefined, { signal });
  } while (!(await tryOnce(client)));
}

export async function tryLock(client: pg.Client, lock: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>("select pg_try_advisory_lock($1) as locked", [lock]);
  return rows[0]?.locked === true;
}

async function tryLockShared(client: pg.Client, lock: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>("select pg_try_advisory_lock_shared($1) as locked", [lock]);
  return rows[0]?.locked === true;
}

async function findHolder(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `select application_name as name from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and granted and objsubid = 1 and datname = current_database()
       and (classid::bigint << 32 | objid::bigint) = $1`,
    [LOCK],
  );
  return rows[0]?.name;
}

function describe(holder: string | undefined): string {
  return `DATABASE_URL is in use by another process of this service (${holder ?? "which has just ended"}). Only one process per database can run the apps: stop the other one, set DATABASE_URL to another database, or see ROLES in docs/operations.md.`;
}
