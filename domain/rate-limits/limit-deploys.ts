import { RateLimited } from "../shared/errors.ts";
import type { Counter, Quota, Taken } from "../ports/counter.ts";

/** Deploys an organization may ask for. */
export const DEPLOY_LIMIT = { limit: 5, windowSeconds: 300 } as const;

export function deployQuota(orgId: string): Quota {
  return { key: `deploy:${orgId}`, ...DEPLOY_LIMIT };
}

/**
 * Counts one attempt to deploy, whatever becomes of it, and reports what the organization has left.
 *
 * @throws {RateLimited} when the organization has used up the window
 */
export async function limitDeploys(counter: Counter, orgId: string, report: (taken: Taken) => void): Promise<void> {
  const taken = await counter.take(deployQuota(orgId));
  report(taken);
  if (taken.allowed) return;
  throw new RateLimited(
    `An organization may deploy ${DEPLOY_LIMIT.limit} times in ${DEPLOY_LIMIT.windowSeconds / 60} minutes. Try again in ${taken.resetSeconds} seconds.`,
    taken.resetSeconds,
  );
}
