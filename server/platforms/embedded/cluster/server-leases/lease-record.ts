import { z } from "zod";
import { parseJson } from "../../../../../domain/shared/json.ts";
import type { ScriptVersion } from "../../script-version.ts";
import { SERVER_DATA_PREFIX } from "../bucket-layout.ts";
import type { SharedBucket } from "../shared-bucket.ts";

const edgeSchema = z.object({ id: z.string(), host: z.string(), port: z.int() });

const recordSchema = z.object({
  holder: edgeSchema.nullable(),
  sequence: z.int(),
  wantedBy: edgeSchema.nullable(),
  snapshot: z.string().nullable(),
  saveRequest: z.string().optional(),
});

/** An edge as the others reach it. Each process has another id. */
export type LeaseEdge = z.infer<typeof edgeSchema>;

/**
 * Which edge runs a Node server, and where its data is. `sequence` grows with each write of the holder, so it shows whether the
 * holder renews the lease. `snapshot` is the name of the newest snapshot. Both are in one object, so an edge that has lost the
 * lease cannot replace the snapshot of a later holder. `saveRequest` is the id of a request for a new snapshot, until there is one.
 */
export type LeaseRecord = z.infer<typeof recordSchema>;

/** The record of an app that no edge has run. */
export const NO_LEASE: LeaseRecord = { sequence: 0, snapshot: null, holder: null, wantedBy: null };

export interface StoredLease {
  record: LeaseRecord;
  etag: string;
}

export type LeaseLocation = Pick<ScriptVersion, "slug" | "appId">;

/** What the bucket has of a Node server's data. */
export function serverDataPrefix({ slug, appId }: LeaseLocation): string {
  return `${SERVER_DATA_PREFIX}${slug}/${appId}/`;
}

function leaseKey(app: LeaseLocation): string {
  return `${serverDataPrefix(app)}lease.json`;
}

/** @returns `null` if no edge has ever held the lease */
export async function readLease(bucket: SharedBucket, app: LeaseLocation): Promise<StoredLease | null> {
  const found = await bucket.read(leaseKey(app));
  return found && { record: recordSchema.parse(parseJson(found.bytes.toString("utf8"))), etag: found.etag };
}

/**
 * Replaces a record.
 *
 * @param earlier - the ETag that it must have; `null` if there must be none
 * @returns its new ETag; `null` if it has changed
 */
export async function writeLease(
  bucket: SharedBucket,
  app: LeaseLocation,
  { record, etag: earlier }: { record: LeaseRecord; etag: string | null },
): Promise<string | null> {
  const condition = earlier === null ? ({ ifNoneMatch: "*" } as const) : { ifMatch: earlier };
  const written = await bucket.write(leaseKey(app), Buffer.from(JSON.stringify(record)), condition);
  return written?.etag ?? null;
}
