import type { Redis } from "ioredis";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import { MemoryChangeFeed } from "./memory.ts";

const CHANNEL = "apps-changed";

/** Reaches the listeners of every process that shares the Redis. While it is out of reach, changes go unannounced. */
export class RedisChangeFeed implements ChangeFeed {
  readonly #redis: Redis;
  readonly #subscriber: Redis;
  readonly #here = new MemoryChangeFeed();

  /** @param subscriber - a connection of its own: one that listens can do nothing else */
  constructor(redis: Redis, subscriber: Redis) {
    this.#redis = redis;
    this.#subscriber = subscriber;
    subscriber.on("message", (_channel, orgId) => this.#here.announce(orgId));
    subscriber.on("ready", () => this.#subscribe());
    if (subscriber.status === "ready") this.#subscribe();
  }

  announce(orgId: string): void {
    this.#redis.publish(CHANNEL, orgId).catch(() => undefined);
  }

  listen(listener: (orgId: string) => void, onGap?: () => void): () => void {
    return this.#here.listen(listener, onGap);
  }

  /** Once for every connection: only its answer says that from now on nothing is missed. */
  #subscribe(): void {
    this.#subscriber.subscribe(CHANNEL).then(
      () => this.#here.announceGap(),
      () => undefined,
    );
  }
}
