import type { Redis } from "ioredis";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import { OwnListeners } from "./local-listeners.ts";

const CHANNEL = "apps-changed";

/** Reaches the listeners of every process that shares the Redis; while it is out of reach, those of this one only. */
export class RedisChangeFeed implements ChangeFeed {
  readonly #redis: Redis;
  readonly #subscriber: Redis;
  readonly #here = new OwnListeners();

  /** @param subscriber - a connection of its own: one that listens can do nothing else */
  constructor(redis: Redis, subscriber: Redis) {
    this.#redis = redis;
    this.#subscriber = subscriber;
    subscriber.on("message", (_channel, notice) => this.#here.hear(notice));
    subscriber.on("ready", () => this.#subscribe());
    if (subscriber.status === "ready") this.#subscribe();
  }

  announce(orgId: string): void {
    this.#redis.publish(CHANNEL, this.#here.tell(orgId)).catch(() => undefined);
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
