import { requireApp } from "../apps/get-app.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import type { UsageMetric } from "./usage-metric.ts";
import { lastDays } from "./usage-period.ts";

export interface DailyUsageRequest {
  /** How many days, with today; 30 without it. */
  days?: number | undefined;
  /** Only what belongs to this app. */
  app_id?: string | undefined;
}

interface DayUsage {
  /** The day in UTC, such as `2026-07-31`. */
  day: string;
  requests: number;
  /** Those of the requests that the apps responded to with a status of 500 or more. */
  errors: number;
  /** Accepted deployments, redeployments and rollbacks. */
  deployments: number;
}

interface AppUsage {
  app_id: string;
  slug: string;
  requests: number;
  errors: number;
  /** In the order of `days`. */
  requests_by_day: number[];
}

export interface DailyUsage {
  /** Oldest first, without gaps. Days include the counts of deleted apps. */
  days: DayUsage[];
  /** The existing apps with the most requests, at most `MAX_APPS`. */
  apps: AppUsage[];
}

const MAX_APPS = 20;

/**
 * Reads the requests and deployments of an organization by day. Requests of the last ten seconds may be missing, and a crash
 * loses them.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app
 */
export async function getDailyUsage(
  { db }: { db: Db },
  { orgId }: Caller,
  { days: count = 30, app_id: appId }: DailyUsageRequest,
): Promise<DailyUsage> {
  if (appId !== undefined) await requireApp(db, { orgId, id: appId });
  const days = lastDays(count);
  const counted = selectCounts(db, { orgId, appId, days });
  return { days: await readDays(counted, days), apps: await readApps(counted, days) };
}

/** Selects the counts of days. Months are counted in the same table. */
function selectCounts(db: Db, { orgId, appId, days }: { orgId: string; appId: string | undefined; days: string[] }) {
  const counted = db
    .selectFrom("usage_counts")
    .where("usage_counts.org_id", "=", orgId)
    .where("usage_counts.period", "in", days)
    .where("usage_counts.metric", "in", ["requests", "request_errors", "deployments"] satisfies UsageMetric[]);
  return appId === undefined ? counted : counted.where("usage_counts.subject_id", "=", appId);
}

type Counted = ReturnType<typeof selectCounts>;

async function readDays(counted: Counted, days: readonly string[]): Promise<DayUsage[]> {
  const rows = await counted
    .select(({ fn }) => ["period", "metric", fn.sum<string>("count").as("total")])
    .groupBy(["period", "metric"])
    .execute();
  const totals = new Map(rows.map(({ period, metric, total }) => [`${period} ${metric}`, Number(total)]));
  const read = (day: string, metric: UsageMetric) => totals.get(`${day} ${metric}`) ?? 0;
  return days.map((day) => ({
    day,
    requests: read(day, "requests"),
    errors: read(day, "request_errors"),
    deployments: read(day, "deployments"),
  }));
}

async function readApps(counted: Counted, days: readonly string[]): Promise<AppUsage[]> {
  const apps = await counted
    .innerJoin("apps", "apps.id", "usage_counts.subject_id")
    .select(["apps.id", "apps.slug"])
    .select(({ fn }) => [
      fn.sum<string>("count").filterWhere("metric", "=", "requests").as("requests"),
      fn.sum<string | null>("count").filterWhere("metric", "=", "request_errors").as("errors"),
    ])
    .groupBy(["apps.id", "apps.slug"])
    .having(({ eb, fn }) => eb(fn.sum("count").filterWhere("metric", "=", "requests"), ">", "0"))
    .orderBy("requests", "desc")
    .orderBy("apps.slug")
    .limit(MAX_APPS)
    .execute();
  if (apps.length === 0) return [];
  const rows = await counted
    .select(["period", "subject_id", "count"])
    .where("metric", "=", "requests")
    .where(
      "subject_id",
      "in",
      apps.map(({ id }) => id),
    )
    .execute();
  const counts = new Map(rows.map((row) => [`${row.period} ${row.subject_id}`, Number(row.count)]));
  return apps.map(({ id, slug, requests, errors }) => ({
    app_id: id,
    slug,
    requests: Number(requests),
    errors: Number(errors ?? 0),
    requests_by_day: days.map((day) => counts.get(`${day} ${id}`) ?? 0),
  }));
}
