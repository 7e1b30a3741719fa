import { setTimeout as sleep } from "node:timers/promises";
import { KeyedLock } from "../../../../../domain/shared/keyed-lock.ts";
import type { ScriptVersion } from "../../script-version.ts";
import type { DatabaseAccess } from "../../databases/sql-databases.ts";
import {
  type AppPlacement,
  type EdgeAddress,
  type OpenData,
  openLocalData,
  type PlacementHold,
  RunsElsewhere,
} from "../../app-placement.ts";
import type { PlatformLog } from "../../supervisor/supervisor-options.ts";
import { AppUnavailable } from "../../supervisor/unavailable-app.ts";
import { BucketError } from "../bucket-error.ts";
import type { SharedBucket } from "../shared-bucket.ts";
import type { AppSnapshots, DataSnapshots } from "./data-snapshots.ts";
import { HeldLease, type LeaseTimes } from "./held-lease.ts";
import {
  type LeaseEdge,
  type LeaseLocation,
  type LeaseRecord,
  NO_LEASE,
  type StoredLease,
  writeLease,
} from "./lease-record.ts";
import { replaceSnapshot, requestSnapshot } from "./move-server-data.ts";
import { ObservedLeases } from "./observed-leases.ts";

export interface ServerLeasesOptions {
  bucket: SharedBucket;
  snapshots: DataSnapshots;
  times: LeaseTimes;
  log: PlatformLog;
}

/** What this edge has of an app whose lease it holds. */
interface HeldApp {
  lease: HeldLease;
  snapshots: AppSnapshots;
  /** How many holds are not disposed of. */
  holds: number;
  timer: NodeJS.Timeout;
  /** A periodic snapshot in progress. */
  saving: Promise<unknown>;
}

/** How long a record may be used without reading it again, in milliseconds. */
const MAX_AGE_MS = 1_000;
const POLL_MS = 500;
/** How long a publication waits for the edge that runs the app. */
const TAKE_OVER_MS = 120_000;
const LOCAL_FILES =
  "Several edges run this app. Each has files of its own in /data, which are neither shared nor saved. Keep data in the database.";

/**
 * Runs each Node server without PostgreSQL on one edge at a time: the one that holds the lease of the app. The lease is acquired before
 * the start, with the newest snapshot of the data, and released after the end of the process and a last snapshot.
 */
export class ServerLeases implements AppPlacement {
  readonly #options: ServerLeasesOptions;
  readonly #held = new Map<string, HeldApp>();
  readonly #locks = new KeyedLock();
  readonly #leases: ObservedLeases;
  #edge: LeaseEdge | null = null;
  #apps: DatabaseAccess | null = null;

  constructor(options: ServerLeasesOptions) {
    this.#options = options;
    this.#leases = new ObservedLeases(options.bucket, options.times.validMs);
  }

  /**
   * Begins to acquire leases.
   *
   * @param edge - as the others reach it
   * @param apps - stops an app that another edge is to run
   */
  start(edge: LeaseEdge, apps: DatabaseAccess): void {
    this.#edge = edge;
    this.#leases.edgeId = edge.id;
    this.#apps = apps;
  }

  async locate(version: ScriptVersion, { isNew }: { isNew: boolean }): Promise<EdgeAddress | null> {
    if (!needsLease(version) || this.#held.has(version.appId)) return null;
    const record = await this.#leases.readRecent(version, isNew ? 0 : MAX_AGE_MS).catch(explainBucketError);
    if (record === null || record.holder === null || this.#leases.isFree(version.appId, record)) return null;
    return { host: record.holder.host, port: record.holder.port };
  }

  async hold(
    version: ScriptVersion,
    { takesOver, signal }: { takesOver: boolean; signal: AbortSignal },
  ): Promise<PlacementHold | null> {
    if (!needsLease(version)) return null;
    return this.#locks.run([version.appId], () => this.#addHold(version, takesOver, signal), signal);
  }

  notice({ code }: ScriptVersion): string | null {
    return code.runtime === "node" && code.server.postgres !== undefined ? LOCAL_FILES : null;
  }

  async openData(version: ScriptVersion, signal: AbortSignal): Promise<OpenData> {
    if (!needsLease(version) || this.#held.has(version.appId)) return openLocalData(version);
    const found = await this.#leases.read(version);
    return this.#options.snapshots.openNewest(version, found?.record.snapshot ?? null, signal);
  }

  /** Saves the data of an app, on whichever edge runs it, so that `openData` opens the newest. @returns as `requestSnapshot` */
  async save(version: ScriptVersion, signal: AbortSignal): Promise<boolean> {
    if (!needsLease(version) || this.#held.has(version.appId)) return true;
    return requestSnapshot({ ...this.#options, leases: this.#leases }, version, signal);
  }

  /** Replaces the data of an app that does not run. @returns what is left out */
  async replaceData(app: LeaseLocation, folder: string, signal: AbortSignal): Promise<string[]> {
    return this.#locks.run(
      [app.appId],
      async () => {
        if (this.#held.has(app.appId)) throw new RunsElsewhere("The app runs");
        return replaceSnapshot({ ...this.#options, leases: this.#leases }, app, folder, signal);
      },
      signal,
    );
  }

  /** Requires the lock of the app. */
  async #addHold(version: ScriptVersion, takesOver: boolean, signal: AbortSignal): Promise<PlacementHold> {
    const held =
      this.#held.get(version.appId) ?? (await this.#acquire(version, takesOver, signal).catch(explainBucketError));
    held.holds++;
    const { lost } = held.lease;
    if (lost.aborted) {
      await this.#release(version, held);
      throw new AppUnavailable("The app moves to another edge. Try again shortly.", 1);
    }
    let isReleased = false;
    const release = async () => {
      if (isReleased) return;
      isReleased = true;
      await this.#locks.run([version.appId], () => this.#release(version, held));
    };
    return { lost, [Symbol.asyncDispose]: release };
  }

  /** Acquires a lease and restores the data. Requires the lock of the app. */
  async #acquire(version: ScriptVersion, takesOver: boolean, signal: AbortSignal): Promise<HeldApp> {
    const deadline = performance.now() + TAKE_OVER_MS;
    let lease = await this.#tryToAcquire(version, takesOver);
    while (lease === null) {
      if (!takesOver) throw new RunsElsewhere("Another edge runs the app");
      if (performance.now() > deadline) throw new RunsElsewhere("The edge that runs the app does not stop it");
      await sleep(POLL_MS, null, { signal });
      lease = await this.#tryToAcquire(version, takesOver);
    }
    try {
      return await this.#prepare(version, lease, signal);
    } catch (error) {
      await this.#endLease(version, lease);
      throw error;
    }
  }

  /** @returns `null` while another edge has the lease */
  async #tryToAcquire(version: ScriptVersion, takesOver: boolean): Promise<HeldLease | null> {
    const { bucket, times, log } = this.#options;
    const edge = this.#edge;
    if (edge === null) throw new AppUnavailable("The edge is starting. Try again shortly.", 1);
    const found = await this.#leases.read(version);
    const current = found?.record ?? NO_LEASE;
    if (!this.#leases.isFree(version.appId, current)) {
      if (takesOver && found !== null) await this.#ask(version, found, edge);
      return null;
    }
    const record = { ...current, holder: edge, wantedBy: null, sequence: current.sequence + 1 };
    const sentAt = performance.now();
    const etag = await writeLease(bucket, version, { record, etag: found?.etag ?? null });
    this.#leases.forget(version.appId);
    if (etag === null) return null;
    const onWanted = () => this.#giveUp(version);
    const onSaveRequest = (id: string) => this.#saveForOther(version, id);
    const options = { bucket, app: pickApp(version), edge, times, log, onWanted, onSaveRequest };
    return new HeldLease(options, { record, etag }, sentAt);
  }

  /** Asks the holder to stop the app. If its record has changed meanwhile, the next attempt asks again. */
  async #ask(version: ScriptVersion, { record, etag }: StoredLease, edge: LeaseEdge): Promise<void> {
    if (record.wantedBy !== null) return;
    await writeLease(this.#options.bucket, version, { record: { ...record, wantedBy: edge }, etag });
  }

  async #prepare(version: ScriptVersion, lease: HeldLease, signal: AbortSignal): Promise<HeldApp> {
    const { snapshots: all, times } = this.#options;
    const whileHeld = AbortSignal.any([signal, lease.lost]);
    const isRestored = await all.restore(version, lease.record, whileHeld);
    const snapshots = await all.follow(version, { lease, isRestored });
    whileHeld.throwIfAborted();
    const timer = setInterval(() => {
      held.saving = held.saving.then(() => this.#save(version, held));
    }, times.snapshotMs);
    const held: HeldApp = { lease, snapshots, holds: 0, timer, saving: Promise.resolve() };
    this.#held.set(version.appId, held);
    return held;
  }

  async #save({ slug, appId }: ScriptVersion, { snapshots, lease }: HeldApp): Promise<boolean> {
    try {
      await snapshots.take();
      return true;
    } catch (err) {
      if (!lease.lost.aborted) this.#options.log.warn({ slug, appId, err }, "the data of an app was not saved");
      return false;
    }
  }

  /** Saves the data, and removes the request of another edge from the record. */
  async #saveForOther(version: ScriptVersion, id: string): Promise<void> {
    const held = this.#held.get(version.appId);
    if (held === undefined) return;
    const saving = held.saving.then(() => this.#save(version, held));
    held.saving = saving;
    if (!(await saving)) return;
    const remove = ({ saveRequest, ...record }: LeaseRecord): LeaseRecord =>
      saveRequest === undefined || saveRequest === id ? record : { ...record, saveRequest };
    await held.lease.update(remove).catch((err: unknown) => {
      this.#options.log.warn({ ...pickApp(version), err }, "a request for a snapshot was not removed");
    });
  }

  /** Ends a hold. After the last one, saves the data and releases the lease. Requires the lock of the app. */
  async #release(version: ScriptVersion, held: HeldApp): Promise<void> {
    if (--held.holds > 0) return;
    clearInterval(held.timer);
    await held.saving;
    const isSaved = await this.#save(version, held);
    this.#held.delete(version.appId);
    // Otherwise another edge would start with older data before the end of the lease.
    if (isSaved) await this.#endLease(version, held.lease);
    else held.lease.abandon();
    this.#leases.forget(version.appId);
  }

  async #endLease({ slug, appId }: ScriptVersion, lease: HeldLease): Promise<void> {
    await lease.release().catch((err: unknown) => {
      this.#options.log.warn({ slug, appId, err }, "the lease of an app was not released; it ends later");
      lease.abandon();
    });
  }

  async #giveUp({ slug, appId, databaseId }: ScriptVersion): Promise<void> {
    // The end of its process releases the lease.
    await this.#apps
      ?.withDatabaseClosed(databaseId, async () => undefined)
      .catch((err: unknown) => {
        this.#options.log.warn({ slug, appId, err }, "an app could not be stopped for another edge");
      });
  }
}

/** Data in PostgreSQL can be used by several processes, and files in `/data` cannot. */
function needsLease({ code }: ScriptVersion): boolean {
  return code.runtime === "node" && code.server.postgres === undefined;
}

/** An app whose lease or data cannot be read now has not failed, so that it starts as soon as that is possible. */
function explainBucketError(cause: unknown): never {
  if (!(cause instanceof BucketError)) throw cause;
  throw new AppUnavailable("The object store cannot be reached. Try again shortly.", 5, { cause });
}

function pickApp({ slug, appId }: ScriptVersion): { slug: string; appId: string } {
  return { slug, appId };
}
