import PQueue from "p-queue";

const MAX_CONNECTS = 64;
const MAX_CONNECTS_OF_ORGANIZATION = 8;

/**
 * Bounds how many connections are being made at once. Of those that wait, one with fewer failed attempts goes first, so that
 * unreachable gateways delay the others little.
 */
export class ConnectLimiter {
  readonly #all = new PQueue({ concurrency: MAX_CONNECTS });
  readonly #queues = new Map<string, PQueue>();

  async run<T>(orgId: string, failedAttempts: number, connect: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(orgId) ?? new PQueue({ concurrency: MAX_CONNECTS_OF_ORGANIZATION });
    this.#queues.set(orgId, queue);
    const priority = -failedAttempts;
    try {
      return await queue.add(() => this.#all.add(connect, { priority }), { priority });
    } finally {
      if (queue.size === 0 && queue.pending === 0 && this.#queues.get(orgId) === queue) this.#queues.delete(orgId);
    }
  }
}
