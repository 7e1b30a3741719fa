export interface StoredObject {
  key: string;
  /** In bytes. */
  size: number;
}

/**
 * Stores objects in named buckets. The first object of a bucket creates it. A key is a relative path whose segments are
 * separated by `/`. No segment is empty, `.` or `..`.
 */
export interface ObjectStore {
  /** Stores the whole object or nothing, and replaces an earlier one. The body can arrive in parts. */
  put(bucket: string, key: string, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<void>;
  /** @returns `null` when there is no such object */
  get(bucket: string, key: string): Promise<Uint8Array | null>;
  /** Reads an object in parts. @throws when there is no such object */
  read(bucket: string, key: string): AsyncIterable<Uint8Array>;
  /** Lists the objects of a bucket, sorted by key. A bucket that does not exist has none. */
  list(bucket: string): Promise<StoredObject[]>;
  /** Removes one object. Succeeds when it does not exist. */
  remove(bucket: string, key: string): Promise<void>;
  /** Removes a bucket and its objects. Succeeds when it does not exist. */
  removeBucket(bucket: string): Promise<void>;
  /** Lists all buckets, for the sweep. */
  listBuckets(): Promise<string[]>;
}
