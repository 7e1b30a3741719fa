import { type EntityManager, LockMode } from "@mikro-orm/core";
import { ServiceError } from "../shared/errors.ts";
import { Organization } from "../organizations/organization.entity.ts";
import type { Plans } from "../plans/plans.ts";

/** Makes deploys of one organization take turns until the transaction of `em` ends. */
export async function lockOrganization(em: EntityManager, orgId: string): Promise<Organization> {
  return em.findOneOrFail(Organization, { id: orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/**
 * Makes sure that the plan of a locked organization has room for one more app. Room is counted, not booked, so a failed
 * or deleted app gives its slot back exactly once by itself.
 *
 * @param used - what takes up room now, counted under the lock
 * @throws {ServiceError} `plan_limit`
 */
export function checkPlanSlot(plans: Plans, organization: Organization, used: number): void {
  const plan = plans.limitsOf(organization.plan);
  if (used < plan.apps) return;
  throw new ServiceError(
    "plan_limit",
    `The plan "${plans.nameOf(organization.plan)}" allows ${plan.apps} apps and ${used} exist. Delete an app or move to a larger plan.`,
  );
}
