import type { StorageRestriction } from "../../../../domain/ports/app-storage.ts";

/** The app cannot be reached now. Another request after `retryAfterSeconds` (whole, at least 1) can succeed. */
export class AppUnavailable extends Error {
  override readonly name = "AppUnavailable";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The app is stopped because it stores too much, and does not serve this request. */
export class AppRestricted extends Error {
  override readonly name = "AppRestricted";
}

/** @throws {AppRestricted} when an app with this restriction does not serve the request */
export function checkRestriction(restriction: StorageRestriction | null, hasToken: boolean): void {
  if (restriction !== null && !(hasToken && restriction.servesOwner)) throw new AppRestricted(restriction.message);
}
