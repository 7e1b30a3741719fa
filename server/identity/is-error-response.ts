import { APIError } from "better-auth/api";

/**
 * Whether an endpoint failed. better-auth throws an `APIError` for a redirect too.
 *
 * This is not in `auth-call.ts`, because the service loads that file at its start, and better-auth later.
 */
export function isErrorResponse(returned: unknown): returned is APIError {
  return returned instanceof APIError && returned.statusCode >= 400;
}
