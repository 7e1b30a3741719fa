import type { SqlEntityManager } from "@mikro-orm/sql";
import { sql } from "kysely";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import { LocalListeners } from "./local-listeners.ts";
import type { PostgresNotifications } from "./postgres-notifications.ts";

export const CHANGE_CHANNEL = "apps_changed";

export interface PostgresChangeFeedOptions {
  /** Announcements use its connection pool. */
  em: SqlEntityManager;
  /** Listens to `CHANGE_CHANNEL`. */
  notifications: PostgresNotifications;
  /** Called with the reason when an announcement fails. */
  onError: (error: unknown) => void;
}

/** Reaches the listeners of every process on the database: NOTIFY on a connection of the pool. */
export class PostgresChangeFeed implements ChangeFeed, AsyncDisposable {
  readonly #options: PostgresChangeFeedOptions;
  readonly #listeners = new LocalListeners();
  readonly #announcements = new Set<Promise<void>>();
  readonly #unlisten: () => void;
  #isClosed = false;

  constructor(options: PostgresChangeFeedOptions) {
    this.#options = options;
    this.#unlisten = options.notifications.listen(
      CHANGE_CHANNEL,
      (notice) => this.#listeners.receive(notice),
      () => this.#listeners.announceGap(),
    );
  }

  announce(id: string): void {
    if (this.#isClosed) return;
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
    this.#isClosed = true;
    this.#unlisten();
    await Promise.all(this.#announcements);
  }

  async #notify(notice: string): Promise<void> {
    await sql`select pg_notify(${CHANGE_CHANNEL}, ${notice})`.execute(this.#options.em.fork().getKysely());
  }
}
