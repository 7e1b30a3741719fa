export interface StoredObject {
  key: string;
  /** In bytes. */
  size: number;
}

/**
 * Named buckets of objects. A bucket exists as soon as something is put into it. A key is a relative path of
 * `/`-separated segments, none of them empty, `.` or `..`.
 */
export interface ObjectStore {
  /** Stores the whole object or nothing; replaces an earlier one. */
  put(bucket: string, key: string, body: Uint8Array): Promise<void>;
  /** `null` when there is no such object. */
  get(bucket: string, key: string): Promise<Uint8Array | null>;
  /** In the order of the keys; nothing for a bucket that does not exist. */
  list(bucket: string): Promise<StoredObject[]>;
  /** Removes one object. Succeeds when there is nothing to remove. */
  remove(bucket: string, key: string): Promise<void>;
  /** Removes a bucket with everything in it. Succeeds when there is nothing to remove. */
  removeBucket(bucket: string): Promise<void>;
  /** Every bucket there is, for the sweep. */
  listBuckets(): Promise<string[]>;
}
