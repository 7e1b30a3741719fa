import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { RunsElsewhere } from "../../app-placement.ts";
import type { SharedBucket } from "../shared-bucket.ts";
import type { DataSnapshots } from "./data-snapshots.ts";
import { type LeaseLocation, NO_LEASE, writeLease } from "./lease-record.ts";
import type { ObservedLeases } from "./observed-leases.ts";

interface LeaseParts {
  bucket: SharedBucket;
  leases: ObservedLeases;
}

const POLL_MS = 500;
/** How long an export waits for a snapshot. */
const SAVE_MS = 60_000;
/** How long an import waits for the edge that runs the app. */
const REPLACE_MS = 120_000;

/**
 * Lets the edge that runs an app save its data.
 *
 * @returns whether the newest snapshot is new; not if the edge does not save it in time
 */
export async function requestSnapshot(
  { bucket, leases }: LeaseParts,
  app: LeaseLocation,
  signal: AbortSignal,
): Promise<boolean> {
  const id = randomUUID();
  let isAsked = false;
  for (
    const deadline = performance.now() + SAVE_MS;
    performance.now() < deadline;
    await sleep(POLL_MS, null, { signal })
  ) {
    const found = await leases.read(app);
    if (found === null || found.record.holder === null) return true;
    if (isAsked && found.record.saveRequest !== id) return true;
    // A request of another export may have been made before what this one has to have was written.
    if (found.record.saveRequest !== undefined) continue;
    const record = { ...found.record, saveRequest: id };
    isAsked = (await writeLease(bucket, app, { record, etag: found.etag })) !== null;
  }
  return false;
}

/**
 * Replaces the newest snapshot of an app that does not run, as an edge does that holds the lease for a moment.
 *
 * @returns what is left out
 */
export async function replaceSnapshot(
  { bucket, leases, snapshots }: LeaseParts & { snapshots: DataSnapshots },
  app: LeaseLocation,
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  const written = await snapshots.write(app, folder, signal);
  if (written === null && (await leases.read(app)) === null) return [];
  for (
    const deadline = performance.now() + REPLACE_MS;
    performance.now() < deadline;
    await sleep(POLL_MS, null, { signal })
  ) {
    const found = await leases.read(app);
    const current = found?.record ?? NO_LEASE;
    if (!leases.isFree(app.appId, current)) continue;
    const snapshot = written?.name ?? null;
    const record = { ...current, holder: null, wantedBy: null, snapshot, sequence: current.sequence + 1 };
    if ((await writeLease(bucket, app, { record, etag: found?.etag ?? null })) !== null) return written?.warnings ?? [];
  }
  throw new RunsElsewhere("The edge that runs the app does not stop it");
}
