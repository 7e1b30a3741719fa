import { once } from "node:events";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import type { EventFeed } from "../../domain/ports/event-feed.ts";
import { UsageCounter } from "../../domain/usage/usage-counter.ts";
import type { Config } from "../config.ts";
import { CHANGE_CHANNEL, PostgresChangeFeed } from "../drivers/change-feed/postgres-change-feed.ts";
import { createPostgresEventFeed, EVENT_CHANNEL } from "../drivers/change-feed/postgres-event-feed.ts";
import { PostgresNotifications } from "../drivers/change-feed/postgres-notifications.ts";
import { RedisChangeFeed, SUBSCRIBER_OPTIONS } from "../drivers/change-feed/redis-change-feed.ts";
import { createTopicFeed } from "../drivers/change-feed/topic-change-feed.ts";
import { DatabaseCounter } from "../drivers/counter/database-counter.ts";
import { FallbackCounter } from "../drivers/counter/fallback-counter.ts";
import { MemoryCounter } from "../drivers/counter/memory-counter.ts";
import { RedisCounter } from "../drivers/counter/redis-counter.ts";
import type { ReadinessCheck } from "../http/health.ts";
import type { Logger } from "../telemetry/logger.ts";
import { PeriodicTask } from "../worker/periodic-task.ts";
import type { DatabaseServices } from "./database.ts";

export interface SharedState {
  counter: Counter;
  /** Counts calls of the tool gateway, which are too frequent for a counter in the database. */
  callCounter: Counter;
  /** Announces changes of an organization's apps. */
  changes: ChangeFeed;
  /** Announces changes of tokens, memberships and sessions. */
  accessChanges: ChangeFeed;
  /** Announces changes of the logs of deployments. */
  logChanges: ChangeFeed;
  /** Announces how the service connects to the gateways of agents. */
  serverChanges: ChangeFeed;
  /** Tells what changed in organizations. The database sends it, so that it is in the transaction of the change. */
  events: EventFeed;
  /** `null` without Redis. */
  redisReadiness: ReadinessCheck | null;
}

/** Opens the state that processes share: in Redis if it is configured, otherwise in the database or in memory. */
export async function openSharedState(
  config: Config,
  { em, url }: Pick<DatabaseServices, "em" | "url">,
  log: Logger,
  opening: AsyncDisposableStack,
): Promise<SharedState> {
  const { redisUrl } = config;
  const onError = (err: unknown): void => log.warn({ err }, "change notifications between processes are interrupted");
  const channels = redisUrl === null ? [CHANGE_CHANNEL, EVENT_CHANNEL] : [EVENT_CHANNEL];
  const notifications = opening.use(await PostgresNotifications.open({ url, channels, onError }));
  const events = createPostgresEventFeed(notifications);
  if (redisUrl !== null) return { ...(await openRedis(redisUrl, log, opening)), events };
  const feed = opening.use(new PostgresChangeFeed({ em, notifications, onError }));
  const counters = { counter: new DatabaseCounter(em), callCounter: new MemoryCounter() };
  return { ...counters, ...topicsOf(feed), events, redisReadiness: null };
}

/** The longest wait for Redis, in milliseconds. Afterwards this process counts the limits itself. */
const REDIS_TIMEOUT_MS = 400;

async function openRedis(
  url: string,
  log: Logger,
  opening: AsyncDisposableStack,
): Promise<Omit<SharedState, "events">> {
  const { Redis } = await import("ioredis");
  const connectionOptions = { connectTimeout: 5000, keepAlive: 10_000, socketTimeout: 5000 };
  // Without the offline queue, a command fails at once while there is no connection.
  const redis = new Redis(url, { ...connectionOptions, commandTimeout: REDIS_TIMEOUT_MS, enableOfflineQueue: false });
  const subscriber = new Redis(url, { ...connectionOptions, ...SUBSCRIBER_OPTIONS });
  for (const connection of [redis, subscriber]) opening.defer(() => connection.disconnect());
  const counter = opening.use(
    new FallbackCounter({
      shared: new RedisCounter(redis),
      local: new MemoryCounter(),
      onLost: (error) =>
        log.warn(
          { reason: messageOf(error) },
          "Redis does not respond: each process counts its own limits until it does",
        ),
      onRestored: () => log.info("Redis responds again: the processes share their limits"),
    }),
  );
  redis.on("error", (err) => counter.useLocal(err));
  subscriber.on("error", (error) =>
    log.debug({ reason: messageOf(error) }, "cannot receive change notifications from Redis"),
  );
  await once(redis, "ready", { signal: AbortSignal.timeout(REDIS_TIMEOUT_MS) }).catch((err) => counter.useLocal(err));
  const redisReadiness = { name: "Redis", check: async () => void (await redis.ping()) };
  return { counter, callCounter: counter, ...topicsOf(new RedisChangeFeed(redis, subscriber)), redisReadiness };
}

function topicsOf(feed: ChangeFeed): Pick<SharedState, "changes" | "accessChanges" | "logChanges" | "serverChanges"> {
  return {
    changes: createTopicFeed(feed, "apps"),
    accessChanges: createTopicFeed(feed, "access"),
    logChanges: createTopicFeed(feed, "logs"),
    serverChanges: createTopicFeed(feed, "servers"),
  };
}

/** Only the message: the errors of ioredis contain the command, which can be the one with the password. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A crash loses at most the counts of this time. */
const FLUSH_PAUSE_MS = 10_000;

/** Opens the counter of requests and programs, which is written to the database every ten seconds and at the end. */
export function openUsageCounter(
  { db }: Pick<DatabaseServices, "db">,
  log: Logger,
  opening: AsyncDisposableStack,
): UsageCounter {
  const counter = new UsageCounter();
  const report = (err: unknown): void => log.warn({ err }, "usage counts could not be written; they are written later");
  opening.defer(() => counter.flush(db).catch(report));
  opening.use(new PeriodicTask({ run: () => counter.flush(db), pauseMs: FLUSH_PAUSE_MS, report }));
  return counter;
}
