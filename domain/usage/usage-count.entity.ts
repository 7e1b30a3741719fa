import { defineEntity, p } from "@mikro-orm/core";
import type { UsageMetric } from "./usage-metric.ts";

/**
 * How often something happened in an organization in one calendar month. Requests, their errors and deployments are counted
 * by day and app too. The counts of deleted apps and agents stay.
 */
export const UsageCountSchema = defineEntity({
  name: "UsageCount",
  tableName: "usage_counts",
  properties: {
    orgId: p.uuid().primary(),
    /** The month in UTC, such as `2026-07`, or the day, such as `2026-07-31`. */
    period: p.string().primary(),
    metric: p.string().$type<UsageMetric>().primary(),
    /** The app whose requests are counted, the agent of the sessions, or the organization. For a day, the app. */
    subjectId: p.uuid().primary(),
    count: p.bigint("string"),
  },
  indexes: [{ properties: ["period"] }],
});

export class UsageCount extends UsageCountSchema.class {}
UsageCountSchema.setClass(UsageCount);
