import type { BinaryValue, CutText } from "./app-databases.ts";
import type { StoredApp } from "./app-storage.ts";

/** A key-value namespace or an object bucket of an app. */
export interface EntryStore {
  kind: "key_value" | "objects";
  /** The name of the binding, with which the app has it. */
  name: string;
}

/** A key with its value, or an object. */
export interface StoredEntry {
  key: string;
  /** The size of the value. */
  bytes: number;
  /** When the value stops to exist; `null` if never. Objects never do. */
  expires_at: string | null;
  /** When an object was written; `null` for a key, of which that is not recorded. */
  uploaded_at: string | null;
  /** As the app gave it for an object. */
  content_type: string | null;
}

/** A text, or the beginning of a long one, or binary data or its beginning. */
export type EntryValue = string | CutText | BinaryValue;

export interface EntryPage {
  /** What the keys begin with. */
  prefix: string;
  /** The key after which the page begins; `null` for the first page. */
  after: string | null;
  limit: number;
}

export const ENTRY_LIMITS = {
  /** Entries of one page. */
  page: 200,
  /** A longer value is cut. */
  valueBytes: 16 * 1024,
} as const;

/** Reads the keys and objects of apps, also while an app runs. Nothing is changed, and no app waits. */
export interface AppEntries {
  /** Lists the namespaces and buckets that the live version of an app declares, also those that it has not used yet. */
  listStores(app: StoredApp): Promise<EntryStore[]>;
  /**
   * Lists entries in the order of their keys, by the bytes of UTF-8. What has expired is left out.
   *
   * @throws {ServiceError} `not_found` for an unknown store, `conflict` when it cannot be read, `unavailable` when the app writes to
   *   it all the time
   */
  list(app: StoredApp, store: EntryStore, page: EntryPage, signal: AbortSignal): Promise<StoredEntry[]>;
  /** Returns the value of an entry; `null` if there is none. @throws {ServiceError} as `list` */
  read(app: StoredApp, store: EntryStore, key: string, signal: AbortSignal): Promise<EntryValue | null>;
}
