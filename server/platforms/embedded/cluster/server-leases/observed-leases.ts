import { LRUCache } from "lru-cache";
import type { SharedBucket } from "../shared-bucket.ts";
import { type LeaseLocation, type LeaseRecord, readLease, type StoredLease } from "./lease-record.ts";

/** When this edge has first seen a record, on the clock of `performance.now()`. */
interface Observation {
  holder: string;
  sequence: number;
  since: number;
}

const MAX_OBSERVED = 10_000;

/** Reads the leases of apps, and notices which of them are not renewed. */
export class ObservedLeases {
  readonly #bucket: SharedBucket;
  readonly #validMs: number;
  readonly #observed = new LRUCache<string, Observation>({ max: MAX_OBSERVED });
  readonly #records = new LRUCache<string, { record: LeaseRecord | null; readAt: number }>({ max: MAX_OBSERVED });
  /** The id of this edge. */
  edgeId: string | null = null;

  /** @param validMs - how long another edge must see no renewal before it takes a lease over */
  constructor(bucket: SharedBucket, validMs: number) {
    this.#bucket = bucket;
    this.#validMs = validMs;
  }

  async read(app: LeaseLocation): Promise<StoredLease | null> {
    const readAt = performance.now();
    const found = await readLease(this.#bucket, app);
    this.#records.set(app.appId, { record: found?.record ?? null, readAt });
    if (found !== null) this.#observe(app.appId, found.record);
    return found;
  }

  /** Reads a record that may be `maxAgeMs` old, or older if the bucket cannot be read. */
  async readRecent(app: LeaseLocation, maxAgeMs: number): Promise<LeaseRecord | null> {
    const known = this.#records.get(app.appId);
    if (known !== undefined && performance.now() - known.readAt < maxAgeMs) return known.record;
    try {
      return (await this.read(app))?.record ?? null;
    } catch (error) {
      if (known === undefined) throw error;
      return known.record;
    }
  }

  forget(appId: string): void {
    this.#records.delete(appId);
  }

  /** Whether this edge may take the lease: it has it already, no edge has it, or its holder has not renewed it in time. */
  isFree(appId: string, { holder, sequence }: LeaseRecord): boolean {
    if (holder === null || holder.id === this.edgeId) return true;
    const known = this.#observed.get(appId);
    if (known?.holder !== holder.id || known.sequence !== sequence) return false;
    return performance.now() - known.since > this.#validMs;
  }

  #observe(appId: string, { holder, sequence }: LeaseRecord): void {
    const known = this.#observed.get(appId);
    if (holder === null || (known?.holder === holder.id && known.sequence === sequence)) return;
    this.#observed.set(appId, { holder: holder.id, sequence, since: performance.now() });
  }
}
