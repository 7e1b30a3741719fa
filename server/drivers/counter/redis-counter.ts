import type { Redis } from "ioredis";
import type { Counter, Quota, QuotaState } from "../../../domain/ports/counter.ts";

/**
 * Redis runs a script atomically, and on its own clock. The sorted set has one member per event, with the time of the event
 * in microseconds as its score. The number of earlier events makes the member unique.
 */
const COUNT_SCRIPT = `
local now = redis.call('TIME')
local at = now[1] * 1000000 + now[2]
local span = tonumber(ARGV[2]) * 1000000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at - span)
local taken = redis.call('ZCARD', KEYS[1])
local allowed = 0
if taken < tonumber(ARGV[1]) then
  allowed = 1
  if ARGV[3] == 'consume' then
    redis.call('ZADD', KEYS[1], at, string.format('%.0f-%d', at, taken))
    redis.call('PEXPIRE', KEYS[1], ARGV[2] * 1000)
    taken = taken + 1
  end
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local reset = 0
if oldest[2] then reset = math.ceil((tonumber(oldest[2]) + span - at) / 1000000) end
return { allowed, taken, reset }
`;

/** Counts in Redis, so that several processes share the counts. */
export class RedisCounter implements Counter {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  consume(quota: Quota): Promise<QuotaState> {
    return this.#run(quota, "consume");
  }

  peek(quota: Quota): Promise<QuotaState> {
    return this.#run(quota, "peek");
  }

  async #run({ key, limit, windowSeconds }: Quota, operation: "consume" | "peek"): Promise<QuotaState> {
    const reply = await this.#redis.eval(COUNT_SCRIPT, 1, `rate:${key}`, limit, windowSeconds, operation);
    const [allowed, taken, reset] = reply as [number, number, number];
    const resetSeconds = taken === 0 ? 0 : Math.max(1, reset);
    return { allowed: allowed === 1, remaining: Math.max(0, limit - taken), resetSeconds };
  }
}
