import { LRUCache } from "lru-cache";
import { RateLimited } from "../../domain/shared/errors.ts";
import { MemoryCounter } from "../drivers/counter/memory-counter.ts";

/** Fetches per client network and per target host. They keep the service from being used to attack third parties. */
const NETWORK_LIMIT = { limit: 60, windowSeconds: 3600 } as const;
const HOST_LIMIT = { limit: 60, windowSeconds: 60 } as const;
const MAX_CONCURRENT_FETCHES = 16;
/** How long a URL with an unusable document is not fetched again, in milliseconds, and how many such URLs are cached. */
const FAILURE_TTL_MS = 10_000;
const MAX_CACHED_FAILURES = 1000;

export interface MetadataFetch {
  url: string;
  /** The client network that caused the fetch. */
  network: string;
  /** Whether an error is the fault of the document, so that an immediate second fetch would fail too. */
  isFinal(error: unknown): boolean;
}

/** Limits the fetches of metadata documents by this process. Simultaneous requests for one URL share one fetch. */
export class MetadataFetchLimiter<T> {
  readonly #counter = new MemoryCounter();
  readonly #pending = new Map<string, Promise<T>>();
  /** The error messages of recent failures by URL. */
  readonly #failures = new LRUCache<string, string>({
    max: MAX_CACHED_FAILURES,
    ttl: FAILURE_TTL_MS,
    ttlResolution: 0,
  });

  /**
   * @param work - fetches and stores the document
   * @throws {RateLimited} when a limit is reached; `work` did not run
   */
  async run(fetch: MetadataFetch, work: () => Promise<T>): Promise<T> {
    const { url } = fetch;
    const pending = this.#pending.get(url);
    if (pending !== undefined) return pending;
    const started = this.#start(fetch, work).finally(() => this.#pending.delete(url));
    this.#pending.set(url, started);
    return started;
  }

  async #start({ url, network, isFinal }: MetadataFetch, work: () => Promise<T>): Promise<T> {
    this.#rejectRecentFailure(url);
    if (this.#pending.size >= MAX_CONCURRENT_FETCHES)
      throw new RateLimited("Too many metadata documents are being fetched at the moment.", 1);
    await this.#consume({ key: `by ${network}`, ...NETWORK_LIMIT });
    await this.#consume({ key: `at ${new URL(url).hostname}`, ...HOST_LIMIT });
    try {
      return await work();
    } catch (error) {
      if (isFinal(error)) this.#failures.set(url, (error as Error).message);
      throw error;
    }
  }

  async #consume(quota: { key: string; limit: number; windowSeconds: number }): Promise<void> {
    const { allowed, resetSeconds } = await this.#counter.consume(quota);
    if (!allowed) throw new RateLimited("Too many metadata documents were fetched.", resetSeconds);
  }

  #rejectRecentFailure(url: string): void {
    const message = this.#failures.get(url);
    if (message === undefined) return;
    const waitMs = this.#failures.getRemainingTTL(url);
    throw new RateLimited(`${message} The document is not fetched again yet.`, Math.max(1, Math.ceil(waitMs / 1000)));
  }
}
