import { randomUUID } from "node:crypto";

/** The bucket of all archives. */
export const ARCHIVE_BUCKET = "archives";

/** Returns a key for a new object. It contains the time, so that the sweep can distinguish an upload in progress from one that was lost. */
export function newArchiveKey(orgId: string): string {
  return `${orgId}/${Date.now()}-${randomUUID()}`;
}

/** When the object was created, in milliseconds since the epoch; 0 for a key of another form. */
export function createdAtOfKey(key: string): number {
  return Number(/\/(\d+)-[^/]*$/.exec(key)?.[1] ?? 0);
}
