import type { Counter, Quota, Taken } from "../../../domain/ports/counter.ts";

/** How many keys are kept before those whose window has passed are dropped. */
const KEYS_KEPT = 10_000;

/**
 * Counts in this process alone, on a clock that never jumps. For limits that are read on every call, where one process
 * serves them all; what was counted ends with the process.
 */
export class MemoryCounter implements Counter {
  readonly #windows = new Map<string, { taken: number[]; windowMs: number }>();

  async take(quota: Quota): Promise<Taken> {
    const now = performance.now();
    const taken = this.#fresh(quota, now);
    const allowed = taken.length < quota.limit;
    if (allowed) taken.push(now);
    return reading(taken, quota, now, allowed);
  }

  async peek(quota: Quota): Promise<Taken> {
    const now = performance.now();
    const taken = this.#fresh(quota, now);
    return reading(taken, quota, now, taken.length < quota.limit);
  }

  #fresh({ key, windowSeconds }: Quota, now: number): number[] {
    if (this.#windows.size > KEYS_KEPT) this.#forget(now);
    const windowMs = windowSeconds * 1000;
    let window = this.#windows.get(key);
    if (window === undefined) this.#windows.set(key, (window = { taken: [], windowMs }));
    const first = window.taken.findIndex((at) => at > now - windowMs);
    if (first !== 0) window.taken.splice(0, first === -1 ? window.taken.length : first);
    return window.taken;
  }

  #forget(now: number): void {
    for (const [key, { taken, windowMs }] of this.#windows)
      if ((taken.at(-1) ?? 0) <= now - windowMs) this.#windows.delete(key);
  }
}

function reading(taken: readonly number[], { limit, windowSeconds }: Quota, now: number, allowed: boolean): Taken {
  const [oldest] = taken;
  const resetSeconds = oldest === undefined ? 0 : Math.max(1, Math.ceil((oldest - now) / 1000 + windowSeconds));
  return { allowed, remaining: limit - taken.length, resetSeconds };
}
