import type { EntityManager } from "@mikro-orm/core";
import { countAppsInPlan } from "../apps/app-quota.ts";
import type { Db } from "../database-types.ts";
import { measureDocuments } from "../documents/document-quota.ts";
import { Organization } from "../organizations/organization.entity.ts";
import type { Plans } from "../plans/plans.ts";
import type { AgentWorkspaces } from "../ports/agent-workspaces.ts";
import type { Counter, Quota } from "../ports/counter.ts";
import { callQuota } from "../rate-limits/limit-calls.ts";
import { deployQuota } from "../rate-limits/limit-deploys.ts";
import { modelCallQuota } from "../rate-limits/limit-model-calls.ts";
import { restartQuota } from "../rate-limits/limit-restarts.ts";
import type { Caller } from "../shared/caller.ts";
import { toTokenCounters } from "./token-counters.ts";
import { periodOf } from "./usage-period.ts";

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
  const counts = await readCounts(db, orgId);
  return {
    plan: plans.resolveName(plan),
    period: "now",
    quotas: [
      { metric: "apps", used: apps, limit: limits.apps },
      { metric: "documents", used: documents, limit: limits.documents },
      { metric: "document_bytes", used: bytes, limit: limits.documentBytes },
      { metric: "builder_tokens", used: counts.get("builder_tokens") ?? 0, limit: limits.builderTokens },
    ],
    rate_limits: await Promise.all([
      readRateLimit("deploy", counter, deployQuota(plans, organization)),
      readRateLimit("restarts", counter, restartQuota(orgId)),
      readRateLimit("model_calls", counter, modelCallQuota(plans, organization)),
      readRateLimit("tool_calls", callCounter, callQuota(orgId)),
    ]),
    activity: toActivity(counts),
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

/** What happened in an organization in one calendar month. */
interface Activity {
  /** The month in UTC, such as `2026-07`. */
  period: string;
  /** Accepted deployments, redeployments and rollbacks. */
  deployments: number;
  /** Requests to the apps, also to deleted ones. */
  requests: number;
  /** Programs that were run. */
  programs: number;
  /** By kind, and their total: tokens of the sessions of agents, also of deleted ones, by the times of their entries. */
  tokens: Record<string, number>;
}

/** Reads the activity of the current month. Requests and programs of the last ten seconds may be missing. */
export async function readActivity(db: Db, orgId: string): Promise<Activity> {
  return toActivity(await readCounts(db, orgId));
}

/** Reads the counts of the current month by metric. */
async function readCounts(db: Db, orgId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom("usage_counts")
    .select(({ fn }) => ["metric", fn.sum<string>("count").as("total")])
    .where("org_id", "=", orgId)
    .where("period", "=", periodOf(new Date()))
    .groupBy("metric")
    .execute();
  return new Map(rows.map(({ metric, total }) => [metric, Number(total)]));
}

function toActivity(totals: ReadonlyMap<string, number>): Activity {
  return {
    period: periodOf(new Date()),
    deployments: totals.get("deployments") ?? 0,
    requests: totals.get("requests") ?? 0,
    programs: totals.get("programs") ?? 0,
    tokens: { ...toTokenCounters(Object.fromEntries(totals)) },
  };
}

interface StorageUsage {
  /** How many bytes each app may store. */
  limit_bytes_per_app: number;
  /** The sum of all apps of the organization. */
  total_bytes: number;
  /** The apps that store most, at most `MAX_APPS`, largest first. */
  apps: AppStorageUsage[];
}

interface AppStorageUsage {
  slug: string;
  total_bytes: number;
  /** By kind: `sql`, `key_value`, `objects`, and `durable` for durable objects and workflows. */
  bytes: Record<string, number>;
  /** Whether the app is stopped because it stores too much. */
  stopped: boolean;
}

const MAX_APPS = 20;

/** Reads what the apps of an organization stored when they were measured last. */
export async function readStorage(db: Db, orgId: string, limitBytes: number): Promise<StorageUsage> {
  const stored = db
    .selectFrom("app_storage")
    .innerJoin("apps", "apps.id", "app_storage.app_id")
    .where("apps.org_id", "=", orgId);
  const { total } = await stored
    .select(({ fn }) => fn.sum<string>("total_bytes").as("total"))
    .executeTakeFirstOrThrow();
  const apps = await stored
    .select(["apps.slug", "apps.storage_problem", "sql_bytes", "key_value_bytes", "object_bytes"])
    .select(["durable_bytes", "total_bytes"])
    .orderBy("total_bytes", "desc")
    .orderBy("apps.slug")
    .limit(MAX_APPS)
    .execute();
  return {
    limit_bytes_per_app: limitBytes,
    total_bytes: Number(total ?? 0),
    apps: apps.map((row) => ({
      slug: row.slug,
      total_bytes: Number(row.total_bytes),
      bytes: {
        sql: Number(row.sql_bytes),
        key_value: Number(row.key_value_bytes),
        objects: Number(row.object_bytes),
        durable: Number(row.durable_bytes),
      },
      stopped: row.storage_problem !== null,
    })),
  };
}
