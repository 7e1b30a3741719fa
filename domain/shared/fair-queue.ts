import { ServiceError } from "./errors.ts";

export interface FairQueueLimits {
  /** How many works run at the same time. */
  running: number;
  /** How many of these belong to one key. Work that no organization requested has no limit but `running`. */
  runningPerKey: number;
  /** How many more wait. */
  waiting: number;
  /** How many of these belong to one key. By default, there is no limit but `waiting`. */
  waitingPerKey?: number;
  /** How long a work waits at most, in milliseconds. By default, there is no limit. */
  waitMs?: number;
}

/** The key of work that no organization requested. */
const NO_KEY = "";

interface Waiting {
  start(release: () => void): void;
  reject(error: unknown): void;
}

/**
 * A queue with a share for each key, which is the id of an organization. The next work is that of the key that has waited
 * longest for its turn (round robin), so one key with much work does not delay the others.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #busyMessage: string;
  readonly #running = new Map<string, number>();
  /** The key whose turn is next comes first. A key without waiting work has no entry. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  #runningCount = 0;
  #waitingCount = 0;

  /** @param busyMessage - the message of the error for work that cannot wait, or has waited too long */
  constructor(limits: FairQueueLimits, busyMessage: string) {
    this.#limits = limits;
    this.#busyMessage = busyMessage;
  }

  get counts(): { running: number; waiting: number } {
    return { running: this.#runningCount, waiting: this.#waitingCount };
  }

  /**
   * Runs `work` when its turn comes.
   *
   * @param key - the id of an organization; `null` for work that none requested
   * @param signal - removes the work from the queue; it does not end work that runs
   * @throws {ServiceError} `unavailable` when too much work waits, or the wait takes too long
   */
  async run<T>(key: string | null, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(key, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /**
   * Waits for a turn, as `run` does.
   *
   * @returns a function that ends the turn; further calls of it have no effect
   * @throws {ServiceError} `unavailable`, as `run` does
   */
  async acquire(key: string | null, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const owner = key ?? NO_KEY;
    if (this.#hasRoom(owner)) return this.#start(owner);
    const { waiting, waitingPerKey = waiting, waitMs } = this.#limits;
    const others = this.#waiting.get(owner)?.size ?? 0;
    if (this.#waitingCount >= waiting || others >= waitingPerKey) throw this.#busy();
    return this.#wait(owner, signal, waitMs);
  }

  async #wait(owner: string, signal: AbortSignal | undefined, waitMs: number | undefined): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const entry: Waiting = { start: resolve, reject };
    const abort = (): void => reject(signal?.reason);
    const timer = waitMs === undefined ? undefined : setTimeout(() => reject(this.#busy()), waitMs);
    signal?.addEventListener("abort", abort, { once: true });
    this.#enqueue(owner, entry);
    try {
      return await promise;
    } catch (error) {
      this.#dequeue(owner, entry);
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  #hasRoom(owner: string): boolean {
    const { running, runningPerKey } = this.#limits;
    if (this.#runningCount >= running) return false;
    return owner === NO_KEY || (this.#running.get(owner) ?? 0) < runningPerKey;
  }

  #start(owner: string): () => void {
    this.#runningCount += 1;
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#runningCount -= 1;
      const remaining = (this.#running.get(owner) ?? 0) - 1;
      if (remaining > 0) this.#running.set(owner, remaining);
      else this.#running.delete(owner);
      this.#startNext();
    };
  }

  /** Starts waiting work while there is room. A key whose work starts goes to the end of the order. */
  #startNext(): void {
    for (const [owner, entries] of this.#waiting) {
      if (this.#runningCount >= this.#limits.running) return;
      const [entry] = entries;
      if (entry === undefined || !this.#hasRoom(owner)) continue;
      this.#dequeue(owner, entry);
      this.#waiting.delete(owner);
      if (entries.size > 0) this.#waiting.set(owner, entries);
      entry.start(this.#start(owner));
    }
  }

  #enqueue(owner: string, entry: Waiting): void {
    const entries = this.#waiting.get(owner) ?? new Set();
    entries.add(entry);
    this.#waiting.set(owner, entries);
    this.#waitingCount += 1;
  }

  #dequeue(owner: string, entry: Waiting): void {
    const entries = this.#waiting.get(owner);
    if (entries?.delete(entry) !== true) return;
    this.#waitingCount -= 1;
    if (entries.size === 0) this.#waiting.delete(owner);
  }

  #busy(): ServiceError {
    return new ServiceError("unavailable", this.#busyMessage);
  }
}
