/** Options of one call. */
export interface CallOptions {
  /** Cancels the call, which then rejects with the reason of the signal. */
  signal?: AbortSignal;
  /** The time for one attempt, in milliseconds; by default that of the client. */
  timeoutMs?: number;
  /** How often a failed call is repeated at most, if that is safe; by default that of the client. */
  maxRetries?: number;
}

/** Options of a call that the service recognizes when it is repeated. */
export interface RepeatableCallOptions extends CallOptions {
  /** Calls with the same key have the effect of one call. By default, each call gets a random key. */
  idempotencyKey?: string;
}
