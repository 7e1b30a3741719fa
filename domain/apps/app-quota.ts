import { type EntityManager, LockMode } from "@mikro-orm/core";
import { Organization } from "../organizations/organization.entity.ts";
import type { Plans } from "../plans/plans.ts";
import { ServiceError } from "../shared/errors.ts";
import { App } from "./app.entity.ts";
import type { AppStatus } from "./app-status.ts";

/**
 * Checks that an organization's plan has room for one more app. The apps are counted at each call and no counter is
 * stored, so a failed or deleted app frees its slot exactly once.
 *
 * @param organization - locked, so that of several deploys at the same time only one gets the last slot
 * @throws {ServiceError} `plan_limit`
 */
export async function checkAppQuota(em: EntityManager, plans: Plans, organization: Organization): Promise<void> {
  const used = await countAppsInPlan(em, organization.id);
  const plan = plans.getLimits(organization.plan);
  if (used < plan.apps) return;
  throw new ServiceError(
    "plan_limit",
    `The plan "${plans.resolveName(organization.plan)}" allows ${plan.apps} apps and ${used} exist. Delete an app or move to a larger plan.`,
  );
}

/** Locks an organization until the transaction of `em` ends. */
export async function lockOrganization(em: EntityManager, orgId: string): Promise<Organization> {
  return em.findOneOrFail(Organization, { id: orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** An app with such a status that was never live has no resources, so it does not count against the plan. */
const UNCOUNTED_STATUSES: readonly AppStatus[] = ["failed", "canceled"];

export function countsInPlan({ liveDeploymentId, status }: App): boolean {
  return liveDeploymentId !== null || !UNCOUNTED_STATUSES.includes(status);
}

/** How many apps count against the plan: those for which `countsInPlan` is true. */
export function countAppsInPlan(em: EntityManager, orgId: string): Promise<number> {
  return em.count(App, {
    orgId,
    $or: [{ liveDeploymentId: { $ne: null } }, { status: { $nin: [...UNCOUNTED_STATUSES] } }],
  });
}
