import { z } from "zod";
import type { DailyUsage, DailyUsageRequest } from "../domain/usage/get-daily-usage.ts";
import type { Usage } from "../domain/usage/get-usage.ts";

export const usageRequest = z.strictObject({});

const count = z.int().nonnegative();
/** A count without bounds, which would only make the list of tools longer. */
const amount = z.number();

export const usageResponse = z
  .object({
    plan: z.string(),
    period: z.literal("now"),
    quotas: z.array(z.object({ metric: z.string(), used: count, limit: count })),
    rate_limits: z.array(
      z.object({
        name: z.string(),
        limit: count,
        window_seconds: count,
        remaining: count,
        reset_seconds: count.meta({ description: "Seconds until the oldest counted call leaves the window" }),
      }),
    ),
    activity: z
      .object({
        period: z.string(),
        deployments: amount,
        requests: amount,
        programs: amount,
        tokens: z.record(z.string(), amount),
      })
      .meta({ description: "Counts of the current month (UTC)" }),
    storage: z.object({
      limit_bytes_per_app: amount,
      total_bytes: amount,
      workspace_bytes: amount,
      apps: z
        .array(
          z.object({
            slug: z.string(),
            total_bytes: amount,
            bytes: z.record(z.string(), amount),
            stopped: z.boolean(),
          }),
        )
        .meta({ description: "The 20 apps that store most. An app beyond the limit is stopped" }),
    }),
  })
  .meta({ id: "UsageResponse" }) satisfies z.ZodType<Usage>;

export const dailyUsageRequest = z.strictObject({
  days: z.int().min(1).max(90).optional().meta({ description: "How many days, with today; default 30" }),
  app_id: z.uuid().optional().meta({ description: "Only what belongs to this app" }),
}) satisfies z.ZodType<DailyUsageRequest>;

export const dailyUsageResponse = z
  .object({
    days: z
      .array(
        z.object({
          day: z.string().meta({ description: "A day in UTC", examples: ["2026-11-20"] }),
          requests: count.meta({ description: "Requests to apps" }),
          errors: count.meta({ description: "Requests that an app responded to with a status of 500 or more" }),
          deployments: count.meta({ description: "Accepted deployments, redeployments and rollbacks" }),
        }),
      )
      .meta({ description: "Oldest first, without gaps, with the counts of deleted apps" }),
    apps: z
      .array(
        z.object({
          app_id: z.uuid(),
          slug: z.string(),
          requests: count,
          errors: count,
          requests_by_day: z.array(count).meta({ description: "In the order of `days`" }),
        }),
      )
      .meta({ description: "The 20 existing apps with the most requests" }),
  })
  .meta({ id: "DailyUsageResponse" }) satisfies z.ZodType<DailyUsage>;
