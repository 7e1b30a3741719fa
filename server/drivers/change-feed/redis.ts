import type { Redis } from "ioredis";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import { MemoryChangeFeed } from "./memory.ts";

const CHANNEL = "apps-changed";

/** Reaches the listeners of every process that shares the Redis. While it is out of reach, changes go unannounced. */
export class RedisChangeFeed implements ChangeFeed {
  readonly #redis: Redis;
  readonly #here = new MemoryChangeFeed();

  /** @param subscriber - a connection of its own: one that listens can do nothing else */
  constructor(redis: Redis, subscriber: Redis) {
    this.#redis = redis;
    subscriber.on("message", (_channel, orgId) => this.#here.announce(orgId));
    subscriber.subscribe(CHANNEL).catch(() => undefined);
  }

  announce(orgId: string): void {
    this.#redis.publish(CHANNEL, orgId).catch(() => undefined);
  }

  listen(listener: (orgId: string) => void): () => void {
    return this.#here.listen(listener);
  }
}
