export interface Quota {
  /** Identifies what is counted, such as `deploy:<organization id>`. */
  key: string;
  limit: number;
  windowSeconds: number;
}

export interface QuotaState {
  allowed: boolean;
  /** How many more events the window has room for now. */
  remaining: number;
  /**
   * Whole seconds, rounded up, until the oldest event expires. If `allowed` is `false`, the next event is allowed then.
   */
  resetSeconds: number;
}

/** Counts events in a sliding window, with one clock for all processes. */
export interface Counter {
  /**
   * Counts an event if fewer than `limit` were counted in the last `windowSeconds`. An event that is not allowed is not
   * counted, so after `resetSeconds` the next one is always allowed. Exact for any number of concurrent callers.
   */
  consume(quota: Quota): Promise<QuotaState>;
  /** Reads without counting. `allowed` says whether `consume` would succeed now. */
  peek(quota: Quota): Promise<QuotaState>;
}
