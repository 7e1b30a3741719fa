import type { Counter, Quota, QuotaState } from "../ports/counter.ts";
import { RateLimited, type ServiceError } from "../shared/errors.ts";

/** Attempts to deploy per organization. */
export const DEPLOY_LIMIT = { limit: 5, windowSeconds: 300 } as const;

export function deployQuota(orgId: string): Quota {
  return { key: `deploy:${orgId}`, ...DEPLOY_LIMIT };
}

/**
 * Counts one attempt to deploy, whatever its result, and reports and returns the state of the limit.
 *
 * @throws {RateLimited} when the organization has reached the limit
 */
export async function limitDeploys(
  counter: Counter,
  orgId: string,
  report: (state: QuotaState) => void,
): Promise<QuotaState> {
  const state = await counter.consume(deployQuota(orgId));
  report(state);
  if (state.allowed) return state;
  throw new RateLimited(
    `An organization may deploy ${DEPLOY_LIMIT.limit} times in ${DEPLOY_LIMIT.windowSeconds / 60} minutes. Try again in ${state.resetSeconds} seconds.`,
    state.resetSeconds,
  );
}

/** Adds to the error of an attempt that the attempt counted, and how many are left. */
export function addRemainingDeploys<E extends ServiceError>(error: E, { remaining }: QuotaState): E {
  const message = error.message.replace(/\.$/, "");
  error.message = `${message}. This attempt counted: ${remaining} of ${DEPLOY_LIMIT.limit} are left.`;
  return error;
}
