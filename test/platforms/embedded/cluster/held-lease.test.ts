import { expect, test } from "vitest";
import { HeldLease } from "../../../../server/platforms/embedded/cluster/server-leases/held-lease.ts";
import {
  type LeaseEdge,
  type LeaseRecord,
  readLease,
  writeLease,
} from "../../../../server/platforms/embedded/cluster/server-leases/lease-record.ts";
import { openTestBucket } from "../../../support/edge/cluster-edge.ts";
import { type DiskS3, startDiskS3 } from "../../../support/object-store/disk-s3.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const APP = { slug: "shop", appId: "app-1" };
const KEY = "production/edge/server-data/shop/app-1/lease.json";
const OWN: LeaseEdge = { id: "own", host: "127.0.0.1", port: 1 };
const OTHER: LeaseEdge = { id: "other", host: "127.0.0.1", port: 2 };
/** The lease is renewed by the test only. */
const TIMES = { renewMs: 1e8, killMs: 1e8, validMs: 1e8, snapshotMs: 1e8 };

interface Held extends AsyncDisposable {
  server: DiskS3;
  lease: HeldLease;
  /** How often the lease was asked for. */
  asked: () => number;
  stored(): Promise<LeaseRecord | undefined>;
  /** Replaces the record, as another edge does. */
  replace(change: Partial<LeaseRecord>): Promise<void>;
}

async function holdLease(times = TIMES): Promise<Held> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const server = opening.use(await startDiskS3(folder.path));
  const bucket = opening.use(openTestBucket(server.settings));
  let asked = 0;
  const record = { holder: OWN, sequence: 1, wantedBy: null, snapshot: "first" };
  const sentAt = performance.now();
  const etag = await writeLease(bucket, APP, { record, etag: null });
  const onWanted = async () => void asked++;
  const log = { info: () => undefined, warn: () => undefined };
  const lease = new HeldLease(
    { bucket, app: APP, edge: OWN, times, log, onWanted, onSaveRequest: async () => undefined },
    { record, etag: etag ?? "" },
    sentAt,
  );
  opening.defer(() => lease.abandon());
  const resources = opening.move();
  const read = () => readLease(bucket, APP);
  return {
    server,
    lease,
    asked: () => asked,
    stored: async () => (await read())?.record,
    async replace(change) {
      const found = await read();
      await writeLease(bucket, APP, { record: { ...record, ...found?.record, ...change }, etag: found?.etag ?? null });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

test("an edge whose lease another one has taken over cannot replace the snapshot", async () => {
  await using held = await holdLease();
  await held.replace({ holder: OTHER, sequence: 2, snapshot: "newer" });
  expect(await held.lease.update((record) => ({ ...record, snapshot: "late" }))).toBe(false);
  expect(held.lease.lost.aborted).toBe(true);
  expect(await held.stored()).toMatchObject({ holder: OTHER, snapshot: "newer" });
});

test("a holder that is asked for the lease learns it at the next renewal, and releases it to the edge that asked", async () => {
  await using held = await holdLease();
  await held.replace({ wantedBy: OTHER });
  expect(await held.lease.update((record) => record)).toBe(true);
  expect(held.asked()).toBe(1);
  await held.lease.release();
  expect(await held.stored()).toMatchObject({ holder: OTHER, wantedBy: null, snapshot: "first" });
});

test("a holder has its lease after a renewal whose response was lost", async () => {
  await using held = await holdLease();
  for (let n = 0; n < 2; n++) held.server.inject({ method: "PUT", key: KEY, outcome: "close-after-effect" });
  expect(await held.lease.update((record) => ({ ...record, snapshot: "second" }))).toBe(true);
  expect(await held.lease.update((record) => record)).toBe(true);
  expect(await held.stored()).toMatchObject({ holder: OWN, snapshot: "second" });
});

test("a lease that is not renewed in time is lost, and a renewal after that has no effect", async () => {
  await using held = await holdLease({ ...TIMES, killMs: 50 });
  await expect.poll(() => held.lease.lost.aborted).toBe(true);
  expect(await held.lease.update((record) => ({ ...record, snapshot: "late" }))).toBe(false);
  expect(await held.stored()).toMatchObject({ sequence: 1, snapshot: "first" });
});
