import { setTimeout as sleep } from "node:timers/promises";
import { FairQueue } from "../../../../domain/shared/fair-queue.ts";

/** A smaller message is read as soon as it has arrived. */
const LARGE_BYTES = 64 * 1024;

/**
 * Lets the large messages of all gateways be read in turn, with a pause after each that is as long as reading it has taken. So the
 * gateways of one organization take at most half of the thread, and those of another one do not wait for all of them.
 */
export class LargeMessages {
  readonly #queue = new FairQueue(
    { running: 1, runningPerKey: 1, waiting: 1000 },
    "gateways send too many large messages",
  );

  /**
   * Calls `read` at once for a small message, and otherwise in turn.
   *
   * @returns `null` if the message has been read
   * @throws {ServiceError} `unavailable` while too many messages wait
   */
  read(orgId: string, message: Buffer, read: () => void): Promise<void> | null {
    if (message.length >= LARGE_BYTES) return this.#queue.run(orgId, () => readAndPause(read));
    read();
    return null;
  }
}

async function readAndPause(read: () => void): Promise<void> {
  const startedAt = performance.now();
  read();
  await sleep(performance.now() - startedAt);
}
