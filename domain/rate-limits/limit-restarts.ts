import type { Counter, Quota, QuotaState } from "../ports/counter.ts";
import { RateLimited } from "../shared/errors.ts";

/** Requests of an organization that restart an app without a build. It can set all variables of an app at once. */
const RESTART_LIMIT = { limit: 120, windowSeconds: 60 } as const;

export function restartQuota(orgId: string): Quota {
  return { key: `restarts:${orgId}`, ...RESTART_LIMIT };
}

/**
 * Counts one request to change a variable, to roll an app back or to promote, whatever its result.
 *
 * @throws {RateLimited} when the organization has reached the limit
 */
export async function limitRestarts(
  counter: Counter,
  orgId: string,
  report: (quota: Quota, state: QuotaState) => void,
): Promise<void> {
  const quota = restartQuota(orgId);
  const state = await counter.consume(quota);
  report(quota, state);
  if (state.allowed) return;
  const { limit, windowSeconds } = RESTART_LIMIT;
  throw new RateLimited(
    `An organization may change variables, roll apps back and promote ${limit} times in ${windowSeconds} seconds. Try again in ${state.resetSeconds} seconds.`,
    state.resetSeconds,
  );
}
