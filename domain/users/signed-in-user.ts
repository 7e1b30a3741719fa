import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";

/**
 * Returns the id of the user who is signed in, for operations on the user's own account.
 *
 * @throws {ServiceError} `forbidden` for a machine token
 */
export function requireSignedInUser({ userId, credential }: Caller): string {
  if (userId === null || credential.kind !== "access_token")
    throw new ServiceError("forbidden", "Sign in required. A machine token cannot manage OAuth clients.");
  return userId;
}
