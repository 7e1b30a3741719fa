import type { EntityManager } from "@mikro-orm/core";
import type { Caller } from "../shared/caller.ts";
import { Organization } from "../organizations/organization.entity.ts";
import type { Plans } from "../plans/plans.ts";
import type { Counter, Quota } from "../ports/counter.ts";
import { callQuota } from "../rate-limits/limit-calls.ts";
import { deployQuota } from "../rate-limits/limit-deploys.ts";
import { countAppsInPlan } from "../apps/plan-usage.ts";

export interface Usage {
  plan: string;
  /** What the quotas are counted over: `now`, since apps are counted as they are and not over a time. */
  period: "now";
  quotas: { metric: string; used: number; limit: number }[];
  rate_limits: { name: string; limit: number; window_seconds: number; remaining: number; reset_seconds: number }[];
}

export interface UsageDeps {
  em: EntityManager;
  plans: Plans;
  counter: Counter;
  callCounter: Counter;
}

/** The organization's plan, how much of it is used, and what its rate limits have left. Reading it spends nothing. */
export async function getUsage(deps: UsageDeps, { orgId }: Caller): Promise<Usage> {
  const { plans, counter, callCounter } = deps;
  const em = deps.em.fork();
  const { plan } = await em.findOneOrFail(Organization, { id: orgId }, { fields: ["plan"] });
  const used = await countAppsInPlan(em, orgId);
  return {
    plan: plans.nameOf(plan),
    period: "now",
    quotas: [{ metric: "apps", used, limit: plans.limitsOf(plan).apps }],
    rate_limits: await Promise.all([
      reading("deploy", counter, deployQuota(orgId)),
      reading("tool_calls", callCounter, callQuota(orgId)),
    ]),
  };
}

async function reading(name: string, counter: Counter, quota: Quota): Promise<Usage["rate_limits"][number]> {
  const { remaining, resetSeconds } = await counter.peek(quota);
  const { limit, windowSeconds } = quota;
  return { name, limit, window_seconds: windowSeconds, remaining, reset_seconds: resetSeconds };
}
