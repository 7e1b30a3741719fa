import { addAbortListener } from "node:events";
import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { sql } from "kysely";
import pg from "pg";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import { OwnListeners } from "./local-listeners.ts";

/** Its notifications reach every session that listens in the same database, and no other database. */
const CHANNEL = "apps_changed";

/** How long the database may take to let a connection in, or to answer on it, in milliseconds. */
const ANSWER_MS = 10_000;
/** A connection that carries nothing for this long is probed, so one that a network dropped silently is noticed. */
const PROBE_AFTER_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

export interface PostgresChangeFeedOptions {
  url: string;
  /** Whose pool carries the announcements. */
  em: SqlEntityManager;
  /** Told why listening was interrupted, each time, and why a change could not be announced. */
  onFault: (error: unknown) => void;
}

/**
 * Reaches the listeners of every process on the database, by LISTEN on a connection of its own and NOTIFY on one of the
 * pool. A connection that is lost is made anew, after ever longer pauses, until the feed is closed.
 */
export class PostgresChangeFeed implements ChangeFeed, AsyncDisposable {
  readonly #options: PostgresChangeFeedOptions;
  readonly #here = new OwnListeners();
  readonly #announcements = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #firstAttempt = Promise.withResolvers<void>();
  readonly #ended: Promise<void>;

  private constructor(options: PostgresChangeFeedOptions) {
    this.#options = options;
    this.#ended = this.#keepListening();
  }

  /** Listens when this returns; or, if that cannot be done yet, as soon as it can be. */
  static async open(options: PostgresChangeFeedOptions): Promise<PostgresChangeFeed> {
    const feed = new PostgresChangeFeed(options);
    await feed.#firstAttempt.promise;
    return feed;
  }

  announce(orgId: string): void {
    if (this.#closing.signal.aborted) return;
    const announcement = this.#notify(this.#here.tell(orgId))
      .catch(this.#options.onFault)
      .finally(() => this.#announcements.delete(announcement));
    this.#announcements.add(announcement);
  }

  listen(listener: (orgId: string) => void, onGap?: () => void): () => void {
    return this.#here.listen(listener, onGap);
  }

  /** Finishes what is being announced: a pool that is closed under a statement would wait for it without end. */
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
      this.#here.announceGap();
    };
    while (!signal.aborted) {
      await this.#listenUntilLost(onListening).catch((error: unknown) => {
        if (!signal.aborted) this.#options.onFault(error);
      });
      this.#firstAttempt.resolve();
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  /** @throws always: why no connection could be made, or how it was lost */
  async #listenUntilLost(onListening: () => void): Promise<never> {
    // The socket is ours, because `end` of the client would wait for a database that may never answer.
    const socket = new Socket();
    using _closing = addAbortListener(this.#closing.signal, () => socket.destroy());
    const client = new pg.Client({
      connectionString: this.#options.url,
      fallback_application_name: "change feed",
      stream: () => socket,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    });
    const lost = lossOf(client);
    client.on("notification", ({ payload }) => this.#here.hear(payload ?? ""));
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

/** Rejects when the connection is lost. The client's errors have a listener from here on, so none ends the process. */
function lossOf(client: pg.Client): Promise<never> {
  const lost = new Promise<never>((_resolve, reject) => {
    client.on("error", reject);
    client.on("end", () => reject(new Error("the connection of the change feed ended")));
  });
  // While the client connects it is not waited for, and the loss is told there.
  lost.catch(() => undefined);
  return lost;
}
