import { z } from "zod";
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
