import { getUsage } from "../domain/usage/get-usage.ts";
import { procedure, router } from "./core/trpc.ts";
import { usageRequest, usageResponse } from "./usage.schema.ts";

export const usage = router({
  get: procedure
    .meta({
      tool: {
        name: "service_get_usage",
        title: "Plan and usage",
        description:
          "Reads the organization's plan, how much of its quotas is used, and what its rate limits have left. Use it before deploying, or when a call was refused for a limit; service_list_apps tells about the apps themselves. It counts as a tool call and spends nothing else.",
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      },
    })
    .input(usageRequest)
    .output(usageResponse)
    .query(({ ctx }) => getUsage(ctx.usage, ctx.caller)),
});
