import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { dataPrefix } from "../bucket-layout.ts";
import type { SharedBucket } from "../shared-bucket.ts";

/** How old the check before a write may be, in milliseconds. */
const CHECK_MS = 1_000;
/** Longer than a check is valid, and a write takes. */
const WAIT_MS = 5_000;

/**
 * Ends a restoration when another one of the same app begins, which can be on another edge: the process that called for the first one may be
 * dead, and its edge may not have noticed it yet.
 */
export class RestorationFence implements AsyncDisposable {
  readonly #bucket: SharedBucket;
  readonly #key: string;
  readonly #id = randomUUID();
  #checkedAt = -Infinity;

  private constructor(bucket: SharedBucket, databaseId: string) {
    this.#bucket = bucket;
    this.#key = `${dataPrefix(databaseId)}restoration`;
  }

  static async open(bucket: SharedBucket, databaseId: string, signal: AbortSignal): Promise<RestorationFence> {
    const fence = new RestorationFence(bucket, databaseId);
    const earlier = await bucket.read(fence.#key);
    await bucket.write(fence.#key, Buffer.from(fence.#id));
    if (earlier !== null) await sleep(WAIT_MS, null, { signal });
    return fence;
  }

  /** @throws when another restoration has begun */
  async check(): Promise<void> {
    if (performance.now() - this.#checkedAt < CHECK_MS) return;
    const checkedAt = performance.now();
    const found = await this.#bucket.read(this.#key);
    if (found?.bytes.toString() !== this.#id) throw new Error("Another restoration of the app has begun");
    this.#checkedAt = checkedAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const found = await this.#bucket.read(this.#key);
    if (found?.bytes.toString() === this.#id) await this.#bucket.remove(this.#key);
  }
}
