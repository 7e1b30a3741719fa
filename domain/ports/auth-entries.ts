/** What the front door of deployed apps knows of one app's token. */
export interface AuthEntry {
  appId: string;
  /** SHA-256 of the app token, in hex. */
  tokenSha256: string;
  /** The token before it, good beside it until `until` (RFC 3339). */
  previous?: { tokenSha256: string; until: string };
}

/** The key-value entries by which deployed apps recognise their token; the key is the app id. */
export interface AuthEntries {
  /** Stores the entry; effective on the next request to the app. */
  put(entry: AuthEntry): Promise<void>;
  get(appId: string): Promise<AuthEntry | null>;
  /** Succeeds when there is nothing to remove. */
  remove(appId: string): Promise<void>;
  /** The app ids of every entry, for the sweep. */
  list(): Promise<string[]>;
}
