import { KeyedLock } from "../../../../../domain/shared/keyed-lock.ts";
import type { PlatformLog } from "../../supervisor/supervisor-options.ts";
import type { SharedBucket } from "../shared-bucket.ts";
import {
  type LeaseEdge,
  type LeaseLocation,
  type LeaseRecord,
  readLease,
  type StoredLease,
  writeLease,
} from "./lease-record.ts";

/** In milliseconds. */
export interface LeaseTimes {
  /** How often the holder renews its lease. */
  renewMs: number;
  /** How long after the last renewal the holder kills the process of the app. It must be dead before `validMs`. */
  killMs: number;
  /** How long another edge must see no renewal before it takes the lease over. */
  validMs: number;
  /** How often the data is saved while the app runs. */
  snapshotMs: number;
}

export interface HeldLeaseOptions {
  bucket: SharedBucket;
  app: LeaseLocation;
  edge: LeaseEdge;
  times: LeaseTimes;
  log: PlatformLog;
  /** Called when another edge asks for the lease. If it still has none after the next renewal, it is called again. */
  onWanted: () => Promise<void>;
  /** Called when another edge asks for a new snapshot, until the record does not have the request any more. */
  onSaveRequest: (id: string) => Promise<void>;
}

/**
 * A lease that this edge holds. It is renewed until `release`. The time since a renewal is measured from before its request, on the
 * clock of this machine, and other edges measure from when they see it: so no clocks are compared.
 */
export class HeldLease {
  readonly #options: HeldLeaseOptions;
  readonly #lost = new AbortController();
  readonly #lock = new KeyedLock();
  #stored: StoredLease;
  #isGivingUp = false;
  #isSaving = false;
  #renewal: NodeJS.Timeout | undefined;
  #kill: NodeJS.Timeout | undefined;

  /** @param renewedAt - on the clock of `performance.now()`, before the request that wrote `stored` */
  constructor(options: HeldLeaseOptions, stored: StoredLease, renewedAt: number) {
    this.#options = options;
    this.#stored = stored;
    this.#accept(stored, renewedAt);
    this.#scheduleRenewal();
  }

  /** Aborted when the lease is over, or may be over soon. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get record(): LeaseRecord {
    return this.#stored.record;
  }

  /**
   * Changes the record, which renews the lease.
   *
   * @returns whether this edge had the lease
   * @throws {BucketError} when it is unknown whether the record was changed
   */
  async update(change: (record: LeaseRecord) => LeaseRecord): Promise<boolean> {
    return this.#lock.run(["record"], async () => {
      const { bucket, app, edge } = this.#options;
      for (;;) {
        if (this.lost.aborted) return false;
        const sentAt = performance.now();
        const { record: before, etag: earlier } = this.#stored;
        const record = { ...change(before), sequence: before.sequence + 1 };
        const etag = await writeLease(bucket, app, { record, etag: earlier });
        if (etag !== null) {
          this.#accept({ record, etag }, sentAt);
          return true;
        }
        // Another edge has asked for the lease, an earlier write had an unknown result, or the lease is lost.
        const found = await readLease(bucket, app);
        if (found?.record.holder?.id !== edge.id) {
          this.#lose();
          return false;
        }
        this.#stored = found;
      }
    });
  }

  /** Gives the lease to the edge that has asked for it, or to none. @throws {BucketError} */
  async release(): Promise<void> {
    await this.update((record) => ({ ...record, holder: record.wantedBy, wantedBy: null }));
    this.abandon();
  }

  /** Renews the lease no more. Another edge can have it after its end. */
  abandon(): void {
    this.#lose();
  }

  #accept(stored: StoredLease, renewedAt: number): void {
    const { edge, times, log, app } = this.#options;
    this.#stored = stored;
    clearTimeout(this.#kill);
    if (stored.record.holder?.id !== edge.id) return;
    this.#kill = setTimeout(
      () => {
        log.warn({ ...app }, "the lease of an app could not be renewed; its process is stopped");
        this.#lose();
      },
      renewedAt + times.killMs - performance.now(),
    );
    const { saveRequest } = stored.record;
    if (saveRequest !== undefined && !this.#isSaving) {
      this.#isSaving = true;
      void this.#options.onSaveRequest(saveRequest).finally(() => (this.#isSaving = false));
    }
    if (stored.record.wantedBy === null || this.#isGivingUp) return;
    this.#isGivingUp = true;
    void this.#options.onWanted().finally(() => (this.#isGivingUp = false));
  }

  #scheduleRenewal(): void {
    this.#renewal = setTimeout(() => {
      this.update((record) => record)
        .catch((err: unknown) => this.#options.log.warn({ ...this.#options.app, err }, "a lease was not renewed"))
        .finally(() => {
          if (!this.lost.aborted) this.#scheduleRenewal();
        });
    }, this.#options.times.renewMs);
  }

  #lose(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#kill);
    this.#lost.abort(new Error("The lease of the app is lost"));
  }
}
