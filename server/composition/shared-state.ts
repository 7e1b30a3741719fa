import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import type { Config } from "../config.ts";
import { PostgresChangeFeed } from "../drivers/change-feed/postgres-change-feed.ts";
import { RedisChangeFeed } from "../drivers/change-feed/redis-change-feed.ts";
import { createTopicFeed } from "../drivers/change-feed/topic-change-feed.ts";
import { DatabaseCounter } from "../drivers/counter/database-counter.ts";
import { MemoryCounter } from "../drivers/counter/memory-counter.ts";
import { RedisCounter } from "../drivers/counter/redis-counter.ts";
import type { ReadinessCheck } from "../http/health.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { DatabaseServices } from "./database.ts";

export interface SharedState {
  counter: Counter;
  /** Counts calls of the tool gateway, which are too frequent for a counter in the database. */
  callCounter: Counter;
  /** Announces changes of an organization's apps. */
  changes: ChangeFeed;
  /** Announces changes of tokens, memberships and sessions. */
  accessChanges: ChangeFeed;
  readiness: readonly ReadinessCheck[];
}

/** Opens the state that processes share: in Redis if it is configured, otherwise in the database or in memory. */
export async function openSharedState(
  config: Config,
  { em, url }: Pick<DatabaseServices, "em" | "url">,
  log: Logger,
  opening: AsyncDisposableStack,
): Promise<SharedState> {
  if (config.redisUrl !== null) return openRedis(config.redisUrl, log, opening);
  const onError = (err: unknown): void => log.warn({ err }, "change notifications between processes are interrupted");
  const feed = opening.use(await PostgresChangeFeed.open({ url, em, onError }));
  return { counter: new DatabaseCounter(em), callCounter: new MemoryCounter(), ...topicsOf(feed), readiness: [] };
}

async function openRedis(url: string, log: Logger, opening: AsyncDisposableStack): Promise<SharedState> {
  const { Redis } = await import("ioredis");
  // The command timeout bounds the wait of a deploy on a Redis that accepts a command and never replies.
  const redis = new Redis(url, { maxRetriesPerRequest: 2, connectTimeout: 5000, commandTimeout: 5000 });
  const subscriber = new Redis(url, { maxRetriesPerRequest: null, connectTimeout: 5000 });
  redis.on("error", (err) => log.warn({ err }, "Redis cannot be reached: deploys fail until it is reachable"));
  subscriber.on("error", (err) => log.debug({ err }, "cannot receive change notifications from Redis"));
  for (const connection of [redis, subscriber]) opening.defer(() => connection.disconnect());
  const counter = new RedisCounter(redis);
  const check = async (): Promise<void> => void (await redis.ping());
  return {
    counter,
    callCounter: counter,
    ...topicsOf(new RedisChangeFeed(redis, subscriber)),
    readiness: [{ name: "redis", check }],
  };
}

function topicsOf(feed: ChangeFeed): Pick<SharedState, "changes" | "accessChanges"> {
  return { changes: createTopicFeed(feed, "apps"), accessChanges: createTopicFeed(feed, "access") };
}
