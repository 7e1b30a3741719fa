import type { Counter, Quota } from "../ports/counter.ts";
import { RateLimited } from "../shared/errors.ts";

/** Calls of the tool gateway per organization. */
const CALL_LIMIT = { limit: 600, windowSeconds: 60 } as const;

export function callQuota(orgId: string): Quota {
  return { key: `calls:${orgId}`, ...CALL_LIMIT };
}

/**
 * Counts one call of the tool gateway.
 *
 * @throws {RateLimited} when the organization has reached the limit
 */
export async function limitCalls(counter: Counter, orgId: string): Promise<void> {
  const { allowed, resetSeconds } = await counter.consume(callQuota(orgId));
  if (allowed) return;
  const { limit, windowSeconds } = CALL_LIMIT;
  throw new RateLimited(
    `An organization may make ${limit} calls in ${windowSeconds} seconds. Try again in ${resetSeconds} seconds.`,
    resetSeconds,
  );
}
