import { randomUUID } from "node:crypto";
import { Redis, type RedisOptions } from "ioredis";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import { MemoryChangeFeed } from "../../server/drivers/change-feed/memory-change-feed.ts";
import { RedisChangeFeed, SUBSCRIBER_OPTIONS } from "../../server/drivers/change-feed/redis-change-feed.ts";
import { describePostgresChangeFeed, openPostgresFeeds } from "../drivers/change-feed/postgres-feed.ts";
import { SERVICES } from "../support/service/test-databases.ts";
import { describeChangeFeedContract, describeLossOfChangeFeed, type OpenFeeds } from "./change-feed.ts";

describeChangeFeedContract("postgres", openPostgresFeeds);
describeLossOfChangeFeed("postgres", openPostgresFeeds);
describePostgresChangeFeed();

if (SERVICES === null) describeChangeFeedContract("memory", openMemoryFeeds);
else {
  const { redisUrl } = SERVICES;
  describeChangeFeedContract("redis", () => openRedisFeeds(redisUrl));
  describeLossOfChangeFeed("redis", () => openRedisFeeds(redisUrl));
}

function openMemoryFeeds(): Promise<OpenFeeds> {
  const feed = new MemoryChangeFeed();
  const doNothing = () => Promise.resolve();
  return Promise.resolve({ pair: [feed, feed], interrupt: doNothing, [Symbol.asyncDispose]: doNothing });
}

async function openRedisFeeds(url: string): Promise<OpenFeeds> {
  const stack = new AsyncDisposableStack();
  const connect = (connectionName: string, options: RedisOptions = {}) =>
    stack.adopt(new Redis(url, { ...options, connectionName }), (client) => client.disconnect());
  const redis = connect("announcer");
  const names = [randomUUID(), randomUUID()] as const;
  const openFeed = (name: string) => new RedisChangeFeed(redis, connect(name, SUBSCRIBER_OPTIONS));
  const pair: [ChangeFeed, ChangeFeed] = [openFeed(names[0]), openFeed(names[1])];
  // A feed reports a gap when it starts to listen.
  await Promise.all(pair.map((feed) => new Promise<void>((resolve) => feed.listen(() => undefined, resolve))));
  const interrupt = async () => {
    const clients = String(await redis.client("LIST")).split("\n");
    for (const client of clients.filter((line) => names.some((name) => line.includes(`name=${name} `))))
      await redis.client("KILL", "ID", /^id=(\d+)/.exec(client)?.[1] ?? "");
  };
  return { pair, interrupt, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
