import type { Db } from "../database-types.ts";
import { toTokenCounters } from "./token-counters.ts";
import { periodOf } from "./usage-period.ts";

/** What happened in an organization in one calendar month. */
export interface Activity {
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
  const period = periodOf(new Date());
  const rows = await db
    .selectFrom("usage_counts")
    .select(({ fn }) => ["metric", fn.sum<string>("count").as("total")])
    .where("org_id", "=", orgId)
    .where("period", "=", period)
    .groupBy("metric")
    .execute();
  const totals = new Map(rows.map(({ metric, total }) => [metric, Number(total)]));
  return {
    period,
    deployments: totals.get("deployments") ?? 0,
    requests: totals.get("requests") ?? 0,
    programs: totals.get("programs") ?? 0,
    tokens: { ...toTokenCounters(Object.fromEntries(totals)) },
  };
}
