import type { Embeddings } from "../ports/embeddings.ts";
import { ServiceError } from "../shared/errors.ts";
import { FairQueue } from "../shared/fair-queue.ts";

interface QueryEmbedderOptions {
  embeddings: Embeddings;
  /** Logs why a query has no vector. */
  report(error: unknown): void;
  timeLimitMs?: number;
  pauseMs?: number;
}

/** A search waits for the endpoint at most so long. */
const TIME_LIMIT_MS = 1000;
/** After a slow failure, searches do not ask the endpoint for this time, because each would wait for it. */
const PAUSE_MS = 10_000;

/** How many queries are embedded at the same time. More wait, and of each one organization has at most half. */
const LIMITS = { running: 16, runningPerKey: 8, waiting: 64, waitingPerKey: 32, waitMs: TIME_LIMIT_MS };

/** Embeds what is searched for. While the endpoint does not respond in time, searches go on without it. */
export class QueryEmbedder {
  readonly #options: Required<QueryEmbedderOptions>;
  readonly #queue = new FairQueue(LIMITS, "other queries are being embedded");
  #pausedUntil = 0;

  constructor(options: QueryEmbedderOptions) {
    this.#options = { timeLimitMs: TIME_LIMIT_MS, pauseMs: PAUSE_MS, ...options };
  }

  get model(): string {
    return this.#options.embeddings.model;
  }

  get minSimilarity(): number {
    return this.#options.embeddings.minSimilarity;
  }

  /**
   * Returns a vector for each text, as `Embeddings.embed` does; `null` when the endpoint does not return them in time, or too many
   * queries wait.
   */
  async embed(orgId: string, texts: readonly string[]): Promise<Float32Array[] | null> {
    try {
      return await this.#queue.run(orgId, () => this.#embed(texts));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return null;
    }
  }

  async #embed(texts: readonly string[]): Promise<Float32Array[] | null> {
    const { embeddings, report, timeLimitMs, pauseMs } = this.#options;
    const startedAt = performance.now();
    if (startedAt < this.#pausedUntil) return null;
    try {
      return await embeddings.embed(texts, { timeLimitMs });
    } catch (error) {
      const endedAt = performance.now();
      if (endedAt - startedAt >= timeLimitMs / 2) this.#pausedUntil = endedAt + pauseMs;
      report(error);
      return null;
    }
  }
}
