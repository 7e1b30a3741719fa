import { LRUCache } from "lru-cache";
import type { Counter, Quota, QuotaState } from "../../../domain/ports/counter.ts";

/** Above this number of keys, the events of the least recently used key are forgotten. */
const MAX_KEYS = 10_000;

/**
 * Counts in the memory of this process, on a monotonic clock. For limits that are checked on every call, where one process
 * serves all calls. The counts are lost when the process ends.
 */
export class MemoryCounter implements Counter {
  /** The times of the counted events by key, oldest first. */
  readonly #events = new LRUCache<string, number[]>({ max: MAX_KEYS });

  async consume(quota: Quota): Promise<QuotaState> {
    const now = performance.now();
    const taken = this.#eventsInWindow(quota, now);
    const allowed = taken.length < quota.limit;
    if (allowed) taken.push(now);
    return toQuotaState(taken, quota, now, allowed);
  }

  async peek(quota: Quota): Promise<QuotaState> {
    const now = performance.now();
    const taken = this.#eventsInWindow(quota, now);
    return toQuotaState(taken, quota, now, taken.length < quota.limit);
  }

  #eventsInWindow({ key, windowSeconds }: Quota, now: number): number[] {
    let taken = this.#events.get(key);
    if (taken === undefined) this.#events.set(key, (taken = []));
    const first = taken.findIndex((at) => at > now - windowSeconds * 1000);
    if (first !== 0) taken.splice(0, first === -1 ? taken.length : first);
    return taken;
  }
}

function toQuotaState(
  taken: readonly number[],
  { limit, windowSeconds }: Quota,
  now: number,
  allowed: boolean,
): QuotaState {
  const [oldest] = taken;
  const resetSeconds = oldest === undefined ? 0 : Math.max(1, Math.ceil((oldest - now) / 1000 + windowSeconds));
  return { allowed, remaining: limit - taken.length, resetSeconds };
}
