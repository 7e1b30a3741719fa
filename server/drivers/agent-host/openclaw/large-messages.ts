import { setTimeout as sleep } from "node:timers/promises";
import { FairQueue } from "../../../../domain/shared/fair-queue.ts";

/** Messages of at least this size are read in turn. A smaller one is read as soon as it has arrived. */
export const LARGE_BYTES = 64 * 1024;

/**
 * Lets the large messages of all gateways be read in turn, with a pause after each that is as long as reading it has taken. So the
 * gateways of one organization take at most half of the thread, and those of another one do not wait for all of them.
 */
export class LargeMessages {
  readonly #queue = new FairQueue(
    { running: 1, runningPerKey: 1, waiting: 1000 },
    "gateways send too many large messages",
  );

  /** Calls `read` in turn. @throws {ServiceError} `unavailable` while too many messages wait */
  run(orgId: string, read: () => void): Promise<void> {
    return this.#queue.run(orgId, async () => {
      const startedAt = performance.now();
      read();
      await sleep(performance.now() - startedAt);
    });
  }
}
