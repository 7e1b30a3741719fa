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
}) satisfies z.ZodType<Usage>;
