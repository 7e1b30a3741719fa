import type { EntityManager } from "@mikro-orm/core";
import { countAppsInPlan } from "../apps/app-quota.ts";
import type { Db } from "../database-types.ts";
import { measureDocuments } from "../documents/document-quota.ts";
import { Organization } from "../organizations/organization.entity.ts";
import type { AgentWorkspaces } from "../ports/agent-workspaces.ts";
import type { Plans } from "../plans/plans.ts";
import type { Counter, Quota } from "../ports/counter.ts";
import { callQuota } from "../rate-limits/limit-calls.ts";
import { deployQuota } from "../rate-limits/limit-deploys.ts";
import { modelCallQuota } from "../rate-limits/limit-model-calls.ts";
import { restartQuota } from "../rate-limits/limit-restarts.ts";
import type { Caller } from "../shared/caller.ts";
import { readActivity, type Activity } from "./read-activity.ts";
import { readStorage, type StorageUsage } from "./read-storage.ts";

export interface Usage {
  plan: string;
  /** The period that the quotas are counted over. `now`: apps and documents are counted as they exist, not over a period. */
  period: "now";
  quotas: { metric: string; used: number; limit: number }[];
  rate_limits: { name: string; limit: number; window_seconds: number; remaining: number; reset_seconds: number }[];
  activity: Activity;
  storage: StorageUsage & {
    /** What the workspaces of agents store. */
    workspace_bytes: number;
  };
}

export interface UsageDeps {
  em: EntityManager;
  db: Db;
  plans: Plans;
  counter: Counter;
  callCounter: Counter;
  agentWorkspaces: AgentWorkspaces;
}

/**
 * Reads the organization's plan, its used quotas, the remaining part of its rate limits, its activity in the current month,
 * and what its apps and its agents store. It does not count against a limit.
 */
export async function getUsage(deps: UsageDeps, { orgId }: Caller): Promise<Usage> {
  const { db, plans, counter, callCounter, agentWorkspaces } = deps;
  const em = deps.em.fork();
  const organization = await em.findOneOrFail(Organization, { id: orgId });
  const { plan } = organization;
  const limits = plans.getLimits(plan);
  const apps = await countAppsInPlan(em, orgId);
  const { documents, bytes } = await measureDocuments(db, orgId);
  return {
    plan: plans.resolveName(plan),
    period: "now",
    quotas: [
      { metric: "apps", used: apps, limit: limits.apps },
      { metric: "documents", used: documents, limit: limits.documents },
      { metric: "document_bytes", used: bytes, limit: limits.documentBytes },
    ],
    rate_limits: await Promise.all([
      readRateLimit("deploy", counter, deployQuota(plans, organization)),
      readRateLimit("restarts", counter, restartQuota(orgId)),
      readRateLimit("model_calls", counter, modelCallQuota(plans, organization)),
      readRateLimit("tool_calls", callCounter, callQuota(orgId)),
    ]),
    activity: await readActivity(db, orgId),
    storage: {
      ...(await readStorage(db, orgId, limits.storageBytes)),
      workspace_bytes: await agentWorkspaces.measure(orgId),
    },
  };
}

async function readRateLimit(name: string, counter: Counter, quota: Quota): Promise<Usage["rate_limits"][number]> {
  const { remaining, resetSeconds } = await counter.peek(quota);
  const { limit, windowSeconds } = quota;
  return { name, limit, window_seconds: windowSeconds, remaining, reset_seconds: resetSeconds };
}
