import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { inParallel } from "../../../../domain/shared/in-parallel.ts";
import { parseJson } from "../../../../domain/shared/json.ts";
import { sha256Hex } from "../../../../domain/shared/sha256.ts";
import { isLargeValue } from "./bucket-layout.ts";
import type { SharedBucket } from "./shared-bucket.ts";

/** The backup that is being made. Its time is compared with the clocks of the edges. */
const recordSchema = z.object({ id: z.string(), until_ms: z.number() });

const HOLD_KEY = "edge/backup.json";
const HELD_PREFIX = "edge/held-deletions/";
/** How long an edge may use what it has read. */
const MAX_AGE_MS = 2_000;
/** After this time, all edges know of the hold, and have completed the deletions that they had begun. */
const EFFECTIVE_MS = 5_000;
const VALID_MS = 60_000;
const RENEW_MS = 15_000;
/** The clocks of the edges agree within this time. */
const CLOCK_SKEW_MS = 30_000;
const DELETIONS_AT_ONCE = 16;

/** The deletions of an edge that wait for the end of a backup. */
export class HeldDeletions {
  readonly #bucket: SharedBucket;
  #read: { record: Promise<z.infer<typeof recordSchema> | null>; at: number } | null = null;

  constructor(bucket: SharedBucket) {
    this.#bucket = bucket;
  }

  /**
   * Records the deletion of a large value instead of doing it, if a backup is being made: the rows that it has copied name the value.
   *
   * @returns whether the deletion waits
   * @throws {BucketError} when it is unknown whether a backup is being made
   */
  async hold(key: string): Promise<boolean> {
    if (!isLargeValue(key)) return false;
    const record = await this.#readRecent();
    if (record === null || record.until_ms + CLOCK_SKEW_MS < Date.now()) return false;
    await this.#bucket.write(`${HELD_PREFIX}${sha256Hex(key)}`, Buffer.from(key));
    return true;
  }

  #readRecent(): Promise<z.infer<typeof recordSchema> | null> {
    const now = performance.now();
    if (this.#read !== null && now - this.#read.at < MAX_AGE_MS) return this.#read.record;
    const record = readHold(this.#bucket).then((found) => found?.record ?? null);
    record.catch(() => (this.#read = null));
    this.#read = { record, at: now };
    return record;
  }
}

/** Keeps the large values of apps while a backup is made. Ends by itself a minute after this process has ended. */
export class DeletionHold implements AsyncDisposable {
  readonly #bucket: SharedBucket;
  readonly #id: string;
  readonly #timer: NodeJS.Timeout;
  #validUntil: number;
  #renewal: Promise<void> = Promise.resolve();
  #lost: Error | null = null;

  private constructor(bucket: SharedBucket, id: string, validUntil: number) {
    this.#bucket = bucket;
    this.#id = id;
    this.#validUntil = validUntil;
    this.#timer = setInterval(() => void this.#renew(), RENEW_MS);
  }

  /**
   * Begins a hold, and waits until all edges observe it.
   *
   * @returns `null` while another backup is being made
   * @throws {BucketError}
   */
  static async begin(bucket: SharedBucket): Promise<DeletionHold | null> {
    const found = await readHold(bucket);
    if (found !== null && found.record.until_ms > Date.now()) return null;
    // Those of an earlier backup.
    await removeHeld(bucket);
    const id = randomUUID();
    const validUntil = Date.now() + VALID_MS;
    const condition = found === null ? ({ ifNoneMatch: "*" } as const) : { ifMatch: found.etag };
    const written = await bucket.write(HOLD_KEY, encodeHold(id), condition);
    if (written === null) return null;
    const hold = new DeletionHold(bucket, id, validUntil);
    await sleep(EFFECTIVE_MS);
    return hold;
  }

  /** @throws when the hold has ended before, so that large values may be missing in the backup */
  async requireUnbroken(): Promise<void> {
    await this.#renew();
    if (this.#lost !== null) throw this.#lost;
  }

  /** Ends the hold, and does the deletions that have waited. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewal;
    if (this.#lost !== null) return;
    await this.#bucket.remove(HOLD_KEY);
    await sleep(MAX_AGE_MS);
    await removeHeld(this.#bucket);
  }

  /** Renewals do not overlap. One that fails is repeated by the next, as long as the hold is valid. */
  #renew(): Promise<void> {
    this.#renewal = this.#renewal
      .then(() => this.#tryToRenew())
      .catch((error: unknown) => {
        if (Date.now() >= this.#validUntil) this.#lost ??= error as Error;
      });
    return this.#renewal;
  }

  async #tryToRenew(): Promise<void> {
    if (this.#lost !== null) return;
    const validUntil = Date.now() + VALID_MS;
    const found = await readHold(this.#bucket);
    const isOwn = found?.record.id === this.#id && Date.now() < this.#validUntil;
    const written = isOwn && (await this.#bucket.write(HOLD_KEY, encodeHold(this.#id), { ifMatch: found.etag }));
    if (written) this.#validUntil = validUntil;
    else this.#lost = new Error("The backup took too long to renew its record in the object store.");
  }
}

function encodeHold(id: string): Buffer {
  return Buffer.from(JSON.stringify({ id, until_ms: Date.now() + VALID_MS }));
}

async function readHold(bucket: SharedBucket): Promise<{ record: z.infer<typeof recordSchema>; etag: string } | null> {
  const found = await bucket.read(HOLD_KEY);
  return found && { record: recordSchema.parse(parseJson(found.bytes.toString("utf8"))), etag: found.etag };
}

async function removeHeld(bucket: SharedBucket): Promise<void> {
  await inParallel(bucket.list(HELD_PREFIX), DELETIONS_AT_ONCE, async ({ key: marker }) => {
    const key = (await bucket.read(marker))?.bytes.toString("utf8");
    if (key !== undefined && isLargeValue(key)) await bucket.remove(key);
    await bucket.remove(marker);
  });
}
