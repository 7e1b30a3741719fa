import type { Redis, RedisOptions } from "ioredis";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import { LocalListeners } from "./local-listeners.ts";

const CHANNEL = "apps-changed";

/**
 * The options of a connection that subscribes. The feed subscribes on each new connection. When ioredis did so, too, the end of
 * that connection before Redis answers was an unhandled rejection.
 */
export const SUBSCRIBER_OPTIONS = { autoResubscribe: false, maxRetriesPerRequest: null } satisfies RedisOptions;

/** Reaches the listeners of every process that uses the Redis; while Redis is unreachable, those of this process only. */
export class RedisChangeFeed implements ChangeFeed {
  readonly #redis: Redis;
  readonly #subscriber: Redis;
  readonly #listeners = new LocalListeners();

  /**
   * @param subscriber - a separate connection with `SUBSCRIBER_OPTIONS`, because a connection that subscribes accepts no other
   *   commands
   */
  constructor(redis: Redis, subscriber: Redis) {
    this.#redis = redis;
    this.#subscriber = subscriber;
    subscriber.on("message", (_channel, notice) => this.#listeners.receive(notice));
    subscriber.on("ready", () => this.#subscribe());
    if (subscriber.status === "ready") this.#subscribe();
  }

  announce(id: string): void {
    this.#redis.publish(CHANNEL, this.#listeners.announceLocally(id)).catch(() => undefined);
  }

  listen(listener: (id: string) => void, onGap?: () => void): () => void {
    return this.#listeners.listen(listener, onGap);
  }

  /** Subscribes once per connection. Notices can be missing until Redis confirms the subscription, so that is a gap. */
  #subscribe(): void {
    this.#subscriber.subscribe(CHANNEL).then(
      () => this.#listeners.announceGap(),
      () => undefined,
    );
  }
}
