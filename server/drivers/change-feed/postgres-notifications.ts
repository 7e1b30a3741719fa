import { addAbortListener, EventEmitter } from "node:events";
import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

/** The longest wait for a connection or for a reply, in milliseconds. */
const REPLY_TIMEOUT_MS = 10_000;
/** The kernel probes a connection without traffic after this time, and so detects one that a network dropped silently. */
const KEEP_ALIVE_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

export interface PostgresNotificationsOptions {
  url: string;
  /** PostgreSQL delivers a notification to every session that listens in the same database, and in no other database. */
  channels: readonly string[];
  /** Called with the reason each time listening is interrupted. */
  onError: (error: unknown) => void;
}

/**
 * Receives the notifications of some channels of a database, on one connection for all of them. A lost connection is
 * replaced, with a back-off, until the object is disposed.
 */
export class PostgresNotifications implements AsyncDisposable {
  readonly #options: PostgresNotificationsOptions;
  readonly #received = new EventEmitter().setMaxListeners(0);
  readonly #gaps = new EventEmitter().setMaxListeners(0);
  readonly #closing = new AbortController();
  readonly #firstAttempt = Promise.withResolvers<void>();
  readonly #ended: Promise<void>;

  private constructor(options: PostgresNotificationsOptions) {
    this.#options = options;
    this.#ended = this.#keepListening();
  }

  /** Returns when the connection listens, or after a first attempt that failed. It then continues to try. */
  static async open(options: PostgresNotificationsOptions): Promise<PostgresNotifications> {
    const notifications = new PostgresNotifications(options);
    await notifications.#firstAttempt.promise;
    return notifications;
  }

  /**
   * @param listener - called with the payload of each notification of the channel; must not throw
   * @param onGap - called when notifications may have been lost
   * @returns a function that removes the listener
   */
  listen(channel: string, listener: (payload: string) => void, onGap: () => void): () => void {
    this.#received.on(channel, listener);
    this.#gaps.on("gap", onGap);
    return () => {
      this.#received.off(channel, listener);
      this.#gaps.off("gap", onGap);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  async #keepListening(): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = FIRST_PAUSE_MS;
    const onListening = () => {
      pauseMs = FIRST_PAUSE_MS;
      this.#firstAttempt.resolve();
      this.#gaps.emit("gap");
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
    // The socket is destroyed here, because `client.end` would wait for a database that may never reply.
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
    client.on("notification", ({ channel, payload }) => void this.#received.emit(channel, payload ?? ""));
    try {
      await client.connect();
      await client.query(this.#options.channels.map((channel) => `listen ${channel}`).join(";"));
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
