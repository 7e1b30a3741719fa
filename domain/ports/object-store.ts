export interface StoredObject {
  key: string;
  /** In bytes. */
  size: number;
}

/** A part of an object, in bytes. It begins in the object, and can end after it. */
export interface ObjectRange {
  offset: number;
  /** At least 1. */
  length: number;
}

export class ObjectMissing extends Error {
  override readonly name = "ObjectMissing";
}

/**
 * Stores objects in named buckets. The first object of a bucket creates it. A key is a relative path whose segments are
 * separated by `/`. No segment is empty, `.` or `..`.
 */
export interface ObjectStore {
  /**
   * Stores the whole object or nothing, and replaces an earlier one. The body can arrive in parts.
   *
   * @param options.durable - the object survives a power failure once the call returns; otherwise it may be lost or empty
   */
  put(
    bucket: string,
    key: string,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { durable?: boolean },
  ): Promise<void>;
  /** @returns `null` when there is no such object */
  get(bucket: string, key: string): Promise<Uint8Array | null>;
  /**
   * Reads an object in parts.
   *
   * @param range - by default the whole object
   * @throws {ObjectMissing}
   */
  read(bucket: string, key: string, range?: ObjectRange): AsyncIterable<Uint8Array>;
  /** Lists the objects of a bucket, sorted by key. A bucket that does not exist has none. */
  list(bucket: string): Promise<StoredObject[]>;
  /** Removes one object. Succeeds when it does not exist. */
  remove(bucket: string, key: string): Promise<void>;
  /** Removes a bucket and its objects. Succeeds when it does not exist. */
  removeBucket(bucket: string): Promise<void>;
  /** Lists all buckets, for the sweep. */
  listBuckets(): Promise<string[]>;
}
