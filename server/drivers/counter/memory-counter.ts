import type { Counter, Quota, QuotaState } from "../../../domain/ports/counter.ts";

/** Above this number of keys, those without an event in their window are deleted. */
const MAX_KEYS = 10_000;

interface Window {
  /** The times of the counted events, oldest first. */
  taken: number[];
  windowMs: number;
}

/**
 * Counts in the memory of this process, on a monotonic clock. For limits that are checked on every call, where one process
 * serves all calls. The counts are lost when the process ends.
 */
export class MemoryCounter implements Counter {
  readonly #windows = new Map<string, Window>();

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
    if (this.#windows.size > MAX_KEYS) this.#deleteExpired(now);
    const windowMs = windowSeconds * 1000;
    let window = this.#windows.get(key);
    if (window === undefined) this.#windows.set(key, (window = { taken: [], windowMs }));
    const first = window.taken.findIndex((at) => at > now - windowMs);
    if (first !== 0) window.taken.splice(0, first === -1 ? window.taken.length : first);
    return window.taken;
  }

  #deleteExpired(now: number): void {
    for (const [key, { taken, windowMs }] of this.#windows)
      if ((taken.at(-1) ?? 0) <= now - windowMs) this.#windows.delete(key);
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
