/** Every reason the service may refuse a call. A face maps the set with `satisfies Record<ErrorCode, …>`. */
export const ERROR_CODES = [
  "invalid",
  "unauthenticated",
  "forbidden",
  "plan_limit",
  "not_found",
  "conflict",
  "key_reused",
  "rate_limited",
  "teardown_pending",
  "unavailable",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** A refusal the caller can act on. Anything else thrown is a fault: logged whole, shown as a plain 500. */
export class ServiceError extends Error {
  override readonly name: string = "Refusal";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A refusal that ends by itself: repeating the call after `retryAfterSeconds` (whole, at least 1) can succeed. */
export class RateLimited extends ServiceError {
  override readonly name = "RateLimited";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super("rate_limited", message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Whose fault a failed build is. `user`: the repository, so repeating it changes nothing. `platform`: ours or a
 * third party's, so it is worth another try.
 */
export type FailureKind = "user" | "platform";

/**
 * A build that cannot go on, in words for the app's owner. `message` says what happened and is shown as `error`;
 * `advice` says what to do about it and is shown as `status_message`. Neither holds a secret or a path of the host.
 */
export class BuildFailure extends Error {
  override readonly name = "BuildFailure";
  readonly kind: FailureKind;
  readonly advice: string;

  constructor(kind: FailureKind, message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.advice = advice;
  }
}
