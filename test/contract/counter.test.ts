import { Redis } from "ioredis";
import type { Counter } from "../../domain/ports/counter.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import { DatabaseCounter } from "../../server/drivers/counter/database-counter.ts";
import { FallbackCounter } from "../../server/drivers/counter/fallback-counter.ts";
import { MemoryCounter } from "../../server/drivers/counter/memory-counter.ts";
import { RedisCounter } from "../../server/drivers/counter/redis-counter.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { createTestDatabase, SERVICES } from "../support/service/test-databases.ts";
import { describeCounterContract } from "./counter.ts";

describeCounterContract("database", true, async () => {
  await using stack = new AsyncDisposableStack();
  const { databaseUrl } = stack.use(await createTestDatabase());
  const { orm } = stack.use(await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent")));
  const pair: [Counter, Counter] = [new DatabaseCounter(orm.em), new DatabaseCounter(orm.em)];
  const opened = stack.move();
  return { pair, [Symbol.asyncDispose]: () => opened.disposeAsync() };
});

if (SERVICES === null) {
  describeCounterContract("fallback while the shared counter fails", false, () => {
    const fail = () => Promise.reject(new Error("out of reach"));
    const options = { shared: { consume: fail, peek: fail }, local: new MemoryCounter() };
    const counter = new FallbackCounter({ ...options, onLost: () => undefined, onRestored: () => undefined });
    return Promise.resolve({ pair: [counter, counter], [Symbol.asyncDispose]: async () => counter[Symbol.dispose]() });
  });

  describeCounterContract("memory", false, () => {
    const counter = new MemoryCounter();
    return Promise.resolve({ pair: [counter, counter], [Symbol.asyncDispose]: () => Promise.resolve() });
  });
} else {
  const { redisUrl } = SERVICES;
  describeCounterContract("redis", true, async () => {
    const clients = [new Redis(redisUrl), new Redis(redisUrl)] as const;
    const pair: [Counter, Counter] = [new RedisCounter(clients[0]), new RedisCounter(clients[1])];
    return { pair, [Symbol.asyncDispose]: async () => clients.forEach((client) => client.disconnect()) };
  });
}
