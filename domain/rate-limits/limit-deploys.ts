import type { EntityManager } from "@mikro-orm/core";
import { Organization } from "../organizations/organization.entity.ts";
import type { Plans } from "../plans/plans.ts";
import type { Counter, Quota, QuotaState } from "../ports/counter.ts";
import { RateLimited, type ServiceError } from "../shared/errors.ts";

export interface DeployLimitDeps {
  em: EntityManager;
  plans: Plans;
  counter: Counter;
}

/** The state of the deploy limit after an attempt was counted. */
export interface CountedDeploy extends QuotaState {
  quota: Quota;
}

/** The deploy limit of an organization with this plan. */
export function deployQuota(plans: Plans, { id, plan }: Pick<Organization, "id" | "plan">): Quota {
  return { key: `deploy:${id}`, ...plans.getLimits(plan).deploys };
}

/**
 * Counts one attempt to deploy, whatever its result, and reports and returns the state of the limit. The plan of the
 * organization has the limit.
 *
 * @throws {RateLimited} when the organization has reached the limit
 */
export async function limitDeploys(
  { em, plans, counter }: DeployLimitDeps,
  orgId: string,
  report: (attempt: CountedDeploy) => void,
): Promise<CountedDeploy> {
  const organization = await em.fork().findOneOrFail(Organization, { id: orgId });
  const quota = deployQuota(plans, organization);
  const attempt = { quota, ...(await counter.consume(quota)) };
  report(attempt);
  if (attempt.allowed) return attempt;
  throw new RateLimited(
    `An organization may deploy ${times(quota.limit)} in ${formatSpan(quota.windowSeconds)}. Try again in ${attempt.resetSeconds} seconds.`,
    attempt.resetSeconds,
  );
}

/** Adds to the error of an attempt that the attempt counted, and how many are left. */
export function addRemainingDeploys<E extends ServiceError>(error: E, { remaining, quota }: CountedDeploy): E {
  const message = /[.?]$/.test(error.message) ? error.message : `${error.message}.`;
  error.message = `${message} This attempt counted: ${remaining} of ${quota.limit} are left.`;
  return error;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function formatSpan(seconds: number): string {
  if (seconds % 60 !== 0) return `${seconds} seconds`;
  return seconds === 60 ? "a minute" : `${seconds / 60} minutes`;
}
