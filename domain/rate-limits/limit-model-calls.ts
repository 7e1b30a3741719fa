import type { Db } from "../database-types.ts";
import type { Organization } from "../organizations/organization.entity.ts";
import type { Plans } from "../plans/plans.ts";
import type { Counter, Quota } from "../ports/counter.ts";

export interface ModelCallLimitDeps {
  db: Db;
  plans: Plans;
  counter: Counter;
}

/** The limit of answers that a language model writes for an organization with this plan. */
export function modelCallQuota(plans: Plans, { id, plan }: Pick<Organization, "id" | "plan">): Quota {
  return { key: `model-calls:${id}`, ...plans.getLimits(plan).modelCalls };
}

/**
 * Counts a call of the language model.
 *
 * @returns whether the plan of the organization allows it. The caller then responds without a model: a query is never rejected.
 */
export async function countModelCall({ db, plans, counter }: ModelCallLimitDeps, orgId: string): Promise<boolean> {
  const row = await db.selectFrom("organizations").select("plan").where("id", "=", orgId).executeTakeFirst();
  const quota = modelCallQuota(plans, { id: orgId, plan: row?.plan ?? "" });
  return quota.limit > 0 && (await counter.consume(quota)).allowed;
}
