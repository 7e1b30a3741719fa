import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import { MemoryChangeFeed } from "../../server/drivers/change-feed/memory-change-feed.ts";
import { RedisChangeFeed } from "../../server/drivers/change-feed/redis-change-feed.ts";
import { postgresServer, SERVICES } from "../support/service/databases.ts";
import { describeChangeFeedContract, describeLossOfChangeFeed, type OpenFeeds } from "./change-feed.ts";
import { describePostgresChangeFeed, openPostgresFeeds } from "../drivers/change-feed/postgres-feed.ts";

if (SERVICES === null) {
  describeChangeFeedContract("memory", () => {
    const feed = new MemoryChangeFeed();
    const nothing = () => Promise.resolve();
    return Promise.resolve({ pair: [feed, feed], cut: nothing, [Symbol.asyncDispose]: nothing });
  });
} else {
  const { redisUrl } = SERVICES;
  const openRedis = () => openRedisFeeds(redisUrl);
  describeChangeFeedContract("redis", openRedis);
  describeLossOfChangeFeed("redis", openRedis);
}
const openPostgres = () => openPostgresFeeds(postgresServer());
describeChangeFeedContract("postgres", openPostgres);
describeLossOfChangeFeed("postgres", openPostgres);
describePostgresChangeFeed();

async function openRedisFeeds(url: string): Promise<OpenFeeds> {
  const stack = new AsyncDisposableStack();
  const connect = (connectionName: string) =>
    stack.adopt(new Redis(url, { connectionName }), (client) => client.disconnect());
  const redis = connect("announcer");
  const names = [randomUUID(), randomUUID()] as const;
  const feedOf = (name: string) => new RedisChangeFeed(redis, connect(name));
  const pair: [ChangeFeed, ChangeFeed] = [feedOf(names[0]), feedOf(names[1])];
  // It says so when it has begun to listen, as it does after a loss.
  await Promise.all(pair.map((feed) => new Promise<void>((resolve) => feed.listen(() => undefined, resolve))));
  const cut = async () => {
    const clients = String(await redis.client("LIST")).split("\n");
    for (const client of clients.filter((line) => names.some((name) => line.includes(`name=${name} `))))
      await redis.client("KILL", "ID", /^id=(\d+)/.exec(client)?.[1] ?? "");
  };
  return { pair, cut, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
