export interface Quota {
  /** Identifies what is counted, such as `deploy:<organization id>`. */
  key: string;
  limit: number;
  windowSeconds: number;
}

export interface Taken {
  allowed: boolean;
  /** How many more the window has room for now. */
  remaining: number;
  /** Whole seconds, rounded up: until one can be taken again when refused, else until the oldest taken one lapses. */
  resetSeconds: number;
}

/** Counts events in a sliding window, on one clock that all processes share. */
export interface Counter {
  /**
   * Takes one if fewer than `limit` were taken in the last `windowSeconds`; a refused one is not counted, so waiting
   * `resetSeconds` always lets the next through. Exact under any number of parallel callers.
   */
  take(quota: Quota): Promise<Taken>;
  /** Reads without taking; `allowed` says whether `take` would succeed now. */
  peek(quota: Quota): Promise<Taken>;
}
