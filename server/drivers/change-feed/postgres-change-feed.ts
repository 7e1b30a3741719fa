import { addAbortListener } from "node:events";
import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { sql } from "kysely";
import pg from "pg";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import { LocalListeners } from "./local-listeners.ts";

/** PostgreSQL delivers a notification to every session that listens in the same database, and in no other database. */
const CHANNEL = "apps_changed";

/** The longest wait for a connection or for a reply, in milliseconds. */
const REPLY_TIMEOUT_MS = 10_000;
/** The kernel probes a connection without traffic after this time, and so detects one that a network dropped silently. */
const KEEP_ALIVE_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

export interface PostgresChangeFeedOptions {
  url: string;
  /** Announcements use its connection pool. */
  em: SqlEntityManager;
  /** Called with the reason each time listening is interrupted or an announcement fails. */
  onError: (error: unknown) => void;
}

/**
 * Reaches the listeners of every process on the database: LISTEN on a separate connection, NOTIFY on a connection of the
 * pool. A lost connection is replaced, with a back-off, until the feed is closed.
 */
export class PostgresChangeFeed implements ChangeFeed, AsyncDisposable {
  readonly #options: PostgresChangeFeedOptions;
  readonly #listeners = new LocalListeners();
  readonly #announcements = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #firstAttempt = Promise.withResolvers<void>();
  readonly #ended: Promise<void>;

  private constructor(options: PostgresChangeFeedOptions) {
    this.#options = options;
    this.#ended = this.#keepListening();
  }

  /** Returns when the feed listens, or after a first attempt that failed. It then continues to try. */
  static async open(options: PostgresChangeFeedOptions): Promise<PostgresChangeFeed> {
    const feed = new PostgresChangeFeed(options);
    await feed.#firstAttempt.promise;
    return feed;
  }

  announce(id: string): void {
    if (this.#closing.signal.aborted) return;
    const announcement = this.#notify(this.#listeners.announceLocally(id))
      .catch(this.#options.onError)
      .finally(() => this.#announcements.delete(announcement));
    this.#announcements.add(announcement);
  }

  listen(listener: (id: string) => void, onGap?: () => void): () => void {
    return this.#listeners.listen(listener, onGap);
  }

  /** Waits for running announcements, because a pool that is closed during a statement waits for it without end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#ended, ...this.#announcements]);
  }

  async #notify(notice: string): Promise<void> {
    await sql`select pg_notify(${CHANNEL}, ${notice})`.execute(this.#options.em.fork().getKysely());
  }

  async #keepListening(): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = FIRST_PAUSE_MS;
    const onListening = () => {
      pauseMs = FIRST_PAUSE_MS;
      this.#firstAttempt.resolve();
      this.#listeners.announceGap();
    };
    while (!signal.aborted) {
      await this.#listenUntilLost(onListening).catch((error: unknown) => {
        if (!signal.aborted) this.#options.onError(error);
      });
      this.#firstAttempt.resolve();
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  /** @throws always, with the reason why no connection was made or why it was lost */
  async #listenUntilLost(onListening: () => void): Promise<never> {
    // The feed destroys the socket itself, because `client.end` would wait for a database that may never reply.
    const socket = new Socket();
    using _closing = addAbortListener(this.#closing.signal, () => socket.destroy());
    const client = new pg.Client({
      connectionString: this.#options.url,
      fallback_application_name: "change feed",
      stream: () => socket,
      connectionTimeoutMillis: REPLY_TIMEOUT_MS,
      query_timeout: REPLY_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    const lost = rejectWhenLost(client);
    client.on("notification", ({ payload }) => this.#listeners.receive(payload ?? ""));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      onListening();
      return await lost;
    } finally {
      socket.destroy();
    }
  }
}

/** Rejects when the connection is lost. From then on the client's errors have a listener, so none ends the process. */
function rejectWhenLost(client: pg.Client): Promise<never> {
  const lost = new Promise<never>((_resolve, reject) => {
    client.on("error", reject);
    client.on("end", () => reject(new Error("the connection of the change feed ended")));
  });
  // While the client connects, nothing awaits this promise, and `connect` reports the loss.
  lost.catch(() => undefined);
  return lost;
}
