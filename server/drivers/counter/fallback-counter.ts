import type { Counter, Quota, QuotaState } from "../../../domain/ports/counter.ts";

export interface FallbackCounterOptions {
  /** The counter that processes share. A call rejects while its server is out of reach. */
  shared: Counter;
  /** The counter of this process. */
  local: Counter;
  /** Called once when the shared counter fails, with the reason. */
  onLost(reason: unknown): void;
  /** Called once when the shared counter works again. */
  onRestored(): void;
}

const RETRY_MS = 1000;
/** Counted to find out whether the shared counter works again. A server that can only be read would still fail. */
const PROBE: Quota = { key: "fallback-probe", limit: 1, windowSeconds: 1 };

/**
 * Counts with the shared counter, and in this process while the shared counter fails. Only the calls during the first
 * failure wait for it. The counts of the two are separate, so a limit can be used once in each process during an outage.
 */
export class FallbackCounter implements Counter, Disposable {
  readonly #options: FallbackCounterOptions;
  #retry: NodeJS.Timeout | null = null;

  constructor(options: FallbackCounterOptions) {
    this.#options = options;
  }

  consume(quota: Quota): Promise<QuotaState> {
    return this.#run((counter) => counter.consume(quota));
  }

  peek(quota: Quota): Promise<QuotaState> {
    return this.#run((counter) => counter.peek(quota));
  }

  /** Counts in this process from now on, until the shared counter works again. */
  useLocal(reason: unknown): void {
    if (this.#retry !== null) return;
    this.#retry = setTimeout(() => void this.#tryShared(), RETRY_MS).unref();
    this.#options.onLost(reason);
  }

  [Symbol.dispose](): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  async #run(count: (counter: Counter) => Promise<QuotaState>): Promise<QuotaState> {
    if (this.#retry !== null) return count(this.#options.local);
    try {
      return await count(this.#options.shared);
    } catch (error) {
      this.useLocal(error);
      return count(this.#options.local);
    }
  }

  async #tryShared(): Promise<void> {
    try {
      await this.#options.shared.consume(PROBE);
      this.#retry = null;
      this.#options.onRestored();
    } catch {
      this.#retry = setTimeout(() => void this.#tryShared(), RETRY_MS).unref();
    }
  }
}
