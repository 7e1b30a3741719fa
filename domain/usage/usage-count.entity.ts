import { defineEntity, p } from "@mikro-orm/core";
import type { UsageMetric } from "./usage-metric.ts";

/** How often something happened in an organization in one calendar month. The counts of deleted apps and agents stay. */
export const UsageCountSchema = defineEntity({
  name: "UsageCount",
  tableName: "usage_counts",
  properties: {
    orgId: p.uuid().primary(),
    /** The month in UTC, such as `2026-07`. */
    period: p.string().primary(),
    metric: p.string().$type<UsageMetric>().primary(),
    /** The app whose requests are counted, the agent of the sessions, or the organization. */
    subjectId: p.uuid().primary(),
    count: p.bigint("string"),
  },
  indexes: [{ properties: ["period"] }],
});

export class UsageCount extends UsageCountSchema.class {}
UsageCountSchema.setClass(UsageCount);
