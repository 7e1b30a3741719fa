import { BucketError } from "../platforms/embedded/cluster/bucket-error.ts";
import type { SharedBucket } from "../platforms/embedded/cluster/shared-bucket.ts";
import type { StoredContent } from "./backup-repository.ts";
import type { BackupWriter } from "./backup-writer.ts";

export interface BucketSource {
  bucket: SharedBucket;
  writer: BackupWriter;
  signal: AbortSignal;
}

/** Of a copy that is repeated because a part was replaced meanwhile. */
export const MAX_ATTEMPTS = 100;
/** Objects that are copied at the same time. */
export const CONCURRENCY = 8;
/** A connection can be lost after the beginning of a response. */
const MAX_READS = 3;

/** Stores the content of an object. @returns `null` when there is none */
export async function storeObject(
  { bucket, writer, signal }: BucketSource,
  key: string,
): Promise<StoredContent | null> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    const body = await bucket.openRead(key);
    if (body === null) return null;
    try {
      return await writer.store(body);
    } catch (error) {
      if (body.errored === null) throw error;
      const reason = `the connection was lost (${body.errored.message})`;
      if (attempt === MAX_READS) throw new BucketError(`GET ${key}`, { status: null, code: "", reason });
    }
  }
}
