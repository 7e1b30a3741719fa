/** The data by which the edge proxy verifies the token of one app. */
export interface AuthEntry {
  appId: string;
  /** SHA-256 of the app token, in hex. */
  tokenSha256: string;
  /** The previous token, which is valid until `until` (RFC 3339). */
  previous?: { tokenSha256: string; until: string };
}

/** The key-value entries by which an edge platform verifies app tokens. The key is the app id. */
export interface AuthEntries {
  /** Stores an entry. The next request to the app uses it. */
  put(entry: AuthEntry): Promise<void>;
  get(appId: string): Promise<AuthEntry | null>;
  /** Succeeds if there is no entry. */
  remove(appId: string): Promise<void>;
  /** Lists the app ids of all entries, to find orphaned ones. */
  list(): Promise<string[]>;
}
