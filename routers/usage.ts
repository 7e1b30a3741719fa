import { getUsage } from "../domain/apps/get-usage.ts";
import { procedure, router } from "./trpc.ts";
import { usageResponse } from "./usage.schema.ts";

export const usage = router({
  get: procedure
    .meta({
      tool: {
        name: "service_get_usage",
        title: "Plan and usage",
        description:
          "Reads the organization's plan, how much of its quotas is used, and what its rate limits have left. Use it before deploying, or when a call was refused for a limit. Reading it spends nothing.",
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      },
    })
    .output(usageResponse)
    .query(({ ctx }) => getUsage(ctx)),
});
