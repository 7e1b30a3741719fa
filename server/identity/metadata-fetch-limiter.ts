import { RateLimited } from "../../domain/shared/errors.ts";
import { MemoryCounter } from "../drivers/counter/memory.ts";

/** Documents read because of one address, and from one host, whoever asks: nobody gets at a third party through us. */
const PER_ADDRESS = { limit: 60, windowSeconds: 3600 } as const;
const PER_HOST = { limit: 60, windowSeconds: 60 } as const;
/** How many documents are read at once. */
const AT_ONCE = 16;
/** For how long a client whose document was of no use is left alone, in milliseconds. */
const REST_MS = 10_000;
/** How many such clients are remembered. */
const REMEMBERED = 1000;

export interface Visit {
  url: string;
  /** The network of whoever has it read. */
  network: string;
  /** Whether what went wrong is the document's fault, and will be for a while. */
  isFinal(error: unknown): boolean;
}

/**
 * Bounds how often documents are read, for this process. Those who want the same one at the same time share what comes
 * of it.
 */
export class MetadataFetchLimiter<T> {
  readonly #counter = new MemoryCounter();
  readonly #underway = new Map<string, Promise<T>>();
  readonly #failed = new Map<string, { at: number; message: string }>();

  /**
   * @param read - reads the document and takes it in
   * @throws {RateLimited} when it was not read, because that would be too much
   */
  async visit(visit: Visit, read: () => Promise<T>): Promise<T> {
    const { url } = visit;
    const underway = this.#underway.get(url);
    if (underway !== undefined) return underway;
    const started = this.#begin(visit, read).finally(() => this.#underway.delete(url));
    this.#underway.set(url, started);
    return started;
  }

  async #begin({ url, network, isFinal }: Visit, read: () => Promise<T>): Promise<T> {
    this.#expectRested(url);
    if (this.#underway.size >= AT_ONCE) throw new RateLimited("Too many clients are being looked up at once.", 1);
    await this.#take({ key: `by ${network}`, ...PER_ADDRESS });
    await this.#take({ key: `at ${new URL(url).hostname}`, ...PER_HOST });
    try {
      return await read();
    } catch (error) {
      if (isFinal(error)) this.#remember(url, (error as Error).message);
      throw error;
    }
  }

  async #take(quota: { key: string; limit: number; windowSeconds: number }): Promise<void> {
    const { allowed, resetSeconds } = await this.#counter.take(quota);
    if (!allowed) throw new RateLimited("Too many clients were looked up.", resetSeconds);
  }

  #expectRested(url: string): void {
    const failed = this.#failed.get(url);
    const restMs = failed === undefined ? 0 : failed.at + REST_MS - performance.now();
    if (restMs > 0) throw new RateLimited(`${failed?.message} That was a moment ago.`, Math.ceil(restMs / 1000));
    this.#failed.delete(url);
  }

  #remember(url: string, message: string): void {
    const [oldest] = this.#failed.keys();
    if (this.#failed.size >= REMEMBERED && oldest !== undefined) this.#failed.delete(oldest);
    this.#failed.set(url, { at: performance.now(), message });
  }
}
