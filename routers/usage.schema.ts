import { z } from "zod";
import type { Usage } from "../domain/usage/get-usage.ts";

export const usageRequest = z.strictObject({});

const count = z.int().nonnegative();

export const usageResponse = z.object({
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
      period: z.string().meta({ description: "Calendar month in UTC, such as 2026-07" }),
      deployments: count,
      requests: count.meta({ description: "Requests to the apps" }),
      programs: count,
    })
    .meta({ description: "Counts of the current month" }),
  storage: z.object({
    limit_bytes_per_app: count,
    total_bytes: count,
    apps: z
      .array(
        z.object({
          slug: z.string(),
          sql_bytes: count,
          key_value_bytes: count,
          object_bytes: count,
          durable_bytes: count.meta({ description: "Durable objects and workflows" }),
          total_bytes: count,
          stopped: z.boolean().meta({ description: "Whether the app is stopped because it stores too much" }),
          measured_at: z.string(),
        }),
      )
      .meta({ description: "The 20 apps that store most" }),
  }),
}) satisfies z.ZodType<Usage>;
