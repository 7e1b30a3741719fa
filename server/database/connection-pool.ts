import type { Pool, PoolClient } from "pg";
import { NO_CONNECTION, NO_FREE_CONNECTION } from "../../domain/shared/database-outage.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import { FairQueue } from "../../domain/shared/fair-queue.ts";
import { KeyedLock } from "../../domain/shared/keyed-lock.ts";
import { currentConnectionUse } from "../../domain/shared/transaction.ts";

/** How long a call waits for a free connection, in milliseconds. */
export const CONNECTION_MS = 10_000;
/** How long a call waits for its turn to begin a transaction, in milliseconds. */
const TRANSACTION_MS = 30_000;

/** How many statements and transactions wait, in all and of one organization. */
const MAX_WAITING = { waiting: 10_000, waitingPerKey: 2000 };

const BUSY = "all connections to the database are in use";

/** The smallest pool in which each organization can read beside its own transaction. */
const MIN_POOL_SIZE = 5;

interface PoolCounts {
  /** The connections that are open or being opened. */
  open: number;
  /** The connections that statements and transactions use. */
  used: number;
  /** The statements and transactions that wait for a connection, for a lock, or for their turn to begin. */
  waiting: number;
}

/**
 * Shares the connections of a `pg` pool, and removes lost ones from it.
 *
 * One organization uses at most half of the connections. Transactions leave two to statements without one, and those of one
 * organization leave one of its share. Transactions that need the same lock wait for each other without a connection.
 */
export class ConnectionPool {
  readonly #connections: FairQueue;
  readonly #transactions: FairQueue;
  readonly #locks = new KeyedLock();
  #waitingForLocks = 0;
  readonly #used = new Set<PoolClient>();
  readonly #watched = new WeakSet<PoolClient>();
  readonly size: number;
  #pool: Pool | null = null;

  /**
   * @param size - the number of connections, at least 5
   * @param waitMs - how long a statement waits for a connection, in milliseconds
   * @throws {RangeError} for a smaller size
   */
  constructor(size: number, waitMs = CONNECTION_MS) {
    if (size < MIN_POOL_SIZE) throw new RangeError(`A connection pool needs at least ${MIN_POOL_SIZE} connections.`);
    this.size = size;
    const share = Math.floor(size / 2);
    this.#connections = new FairQueue({ running: size, runningPerKey: share, ...MAX_WAITING, waitMs }, BUSY);
    this.#transactions = new FairQueue(
      { running: size - 2, runningPerKey: share - 1, ...MAX_WAITING, waitMs: TRANSACTION_MS },
      BUSY,
    );
  }

  /** Makes `pool` lend its connections as described above. */
  attach(pool: Pool): void {
    this.#pool = pool;
    const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
    pool.connect = (() => this.#connect(connect)) as Pool["connect"];
  }

  get counts(): PoolCounts {
    const waiting = this.#connections.counts.waiting + this.#transactions.counts.waiting + this.#waitingForLocks;
    return { open: this.#pool?.totalCount ?? 0, used: this.#used.size, waiting };
  }

  /** Closes all connections that are in use, so that the pool opens others. Their statements fail. */
  replaceConnections(): void {
    for (const client of this.#used) client.release(true);
  }

  async #connect(connect: () => Promise<PoolClient>): Promise<PoolClient> {
    const endTurn = await this.#waitForTurn();
    try {
      return this.#lend(await connectOrMark(connect), endTurn);
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  /** @returns a function that ends the turn */
  async #waitForTurn(): Promise<() => void> {
    const { orgId, locks } = currentConnectionUse();
    const held: (() => void)[] = [];
    const end = (): void => held.toReversed().forEach((release) => release());
    try {
      if (locks !== null) {
        held.push(await this.#transactions.acquire(orgId));
        held.push(await this.#waitForLocks(locks));
      }
      held.push(await this.#connections.acquire(orgId));
      return end;
    } catch (error) {
      end();
      throw error instanceof ServiceError ? markError(error, NO_FREE_CONNECTION) : error;
    }
  }

  async #waitForLocks(names: readonly string[]): Promise<() => void> {
    this.#waitingForLocks += 1;
    try {
      return await this.#locks.acquire(names);
    } finally {
      this.#waitingForLocks -= 1;
    }
  }

  /**
   * Ends the turn when the client is released, and releases it when its connection is lost: Kysely does not release the
   * connection of a transaction whose BEGIN, COMMIT or ROLLBACK fails.
   */
  #lend(client: PoolClient, endTurn: () => void): PoolClient {
    const release = client.release.bind(client);
    const releaseOnce = (error?: Error | boolean): void => {
      if (!this.#used.delete(client)) return;
      client.off("end", releaseLost);
      endTurn();
      release(error);
    };
    const releaseLost = (): void => releaseOnce(true);
    this.#used.add(client);
    client.once("end", releaseLost);
    client.release = releaseOnce;
    this.#markLostStatements(client);
    return client;
  }

  /** Marks the errors of statements on a lost connection. Each connection of the pool is changed once. */
  #markLostStatements(client: PoolClient): void {
    if (this.#watched.has(client)) return;
    this.#watched.add(client);
    const prototype = Object.getPrototypeOf(client) as PoolClient;
    const queryOrMark = (...args: unknown[]): unknown => {
      // The method of the class at each call, which tracing may have replaced since.
      const result: unknown = Reflect.apply(prototype.query, client, args);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: Error) => {
        throw isLost(client) ? markError(error, NO_CONNECTION) : error;
      });
    };
    client.query = queryOrMark as typeof client.query;
  }
}

/** `pg` documents no other way to ask. `pg-pool` reads the same fields. */
function isLost({ _queryable, _ending }: PoolClient & { _queryable?: boolean; _ending?: boolean }): boolean {
  return _queryable === false || _ending === true;
}

/** The pool's error when all connections are in use for too long. It does not mean that the server is unavailable. */
const ALL_IN_USE = "timeout exceeded when trying to connect";

async function connectOrMark(connect: () => Promise<PoolClient>): Promise<PoolClient> {
  try {
    return await connect();
  } catch (error) {
    const { message } = error as Error;
    throw markError(error as Error, message === ALL_IN_USE ? NO_FREE_CONNECTION : NO_CONNECTION);
  }
}

/** Marks an error with a code of the pool: a code such as `ECONNREFUSED` could come from another server. */
function markError(error: Error, code: string): Error {
  return Object.assign(new Error(error.message, { cause: error }), { code });
}
