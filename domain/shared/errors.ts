import type { Scope } from "./scopes.ts";

/** Every reason to reject a call. Each API maps the set with `satisfies Record<ErrorCode, …>`. */
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

/** Returned for every internal error, whose details are only in the log. */
export const INTERNAL_ERROR =
  "Internal error. Try again. If the error persists, report the X-Request-Id of this response to the operator.";

/** An error the caller can act on. Anything else thrown is an internal error: logged in full, returned as a plain 500. */
export class ServiceError extends Error {
  override readonly name: string = "ServiceError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The caller exceeded a limit. Repeating the call after `retryAfterSeconds` (a whole number, at least 1) can succeed. */
export class RateLimited extends ServiceError {
  override readonly name = "RateLimited";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super("rate_limited", message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The token does not permit the call. A token with the required scope does. */
export class InsufficientScope extends ServiceError {
  override readonly name = "InsufficientScope";
  readonly required: Scope;

  constructor(required: Scope, granted: Scope | null) {
    const has = granted === null ? "has no scope of this service" : `has the scope "${granted}"`;
    super("forbidden", `Scope "${required}" required. This token ${has}. Use a token with the scope "${required}".`);
    this.required = required;
  }
}

/** How long to wait before repeating a call, in seconds; `null` when repeating it does not help. */
export function retryAfterSeconds(error: ServiceError): number | null {
  if (error instanceof RateLimited) return error.retryAfterSeconds;
  return error.code === "unavailable" ? 1 : null;
}

/**
 * The cause of a failed deployment. `user`: the repository, so another attempt would fail too. `platform`: the service or
 * a third party, so another attempt may succeed.
 */
export type FailureKind = "user" | "platform";

/**
 * A deployment cannot continue. The texts are for the app's owner: `message` says what happened and is shown as `error`;
 * `advice` says what to do and is shown as `status_message`. Neither contains a secret or a path of the host.
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
