/** How many bytes an app stores, by kind. */
export interface StoredBytes {
  /** Its SQL database, and the folder `/data` of a Node server. */
  sql: number;
  /** Its key-value namespaces. */
  keyValue: number;
  /** Its object buckets. */
  objects: number;
  /** Its durable objects and workflows. */
  durable: number;
}

export interface StoredApp {
  appId: string;
  slug: string;
}

/** Limits the requests that an app serves. */
export interface StorageRestriction {
  /** Why, for the clients of the app. */
  message: string;
  /** Whether requests with the app's token are served. All others are refused. */
  servesOwner: boolean;
}

/** Measures and restricts what apps store. The assets and scripts of apps do not count. */
export interface AppStorage {
  /**
   * Lists the live apps whose data may have changed since they were measured by this process: at first all, later those
   * that ran.
   */
  listChanged(): Promise<StoredApp[]>;
  /**
   * Measures one app, also while it runs. An app that does not exist stores nothing.
   *
   * @param stopAtBytes - ends the measurement of a kind beyond this size, which bounds its cost
   */
  measure(app: StoredApp, stopAtBytes: number): Promise<StoredBytes>;
  /**
   * Sets or removes (`null`) the restriction of an app. A new restriction stops the running app, and requests that it
   * refuses get `message`. It outlasts restarts of the service and deployments. Safe to repeat. Does nothing for an app
   * that is not live.
   */
  restrict(app: StoredApp, restriction: StorageRestriction | null): Promise<void>;
}
