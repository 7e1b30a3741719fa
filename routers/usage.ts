import { getDailyUsage } from "../domain/usage/get-daily-usage.ts";
import { getUsage } from "../domain/usage/get-usage.ts";
import { READS } from "./core/tool-annotations.ts";
import { procedure, router } from "./core/trpc.ts";
import { dailyUsageRequest, dailyUsageResponse, usageRequest, usageResponse } from "./usage.schema.ts";

export const usage = router({
  get: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/usage",
        tags: ["Usage"],
        summary: "Get the plan and the usage",
        description:
          "The plan of the organization, its used quotas, what remains of its rate limits, the activity of this month, and the storage of its apps.",
        successDescription: "The plan and the usage",
      },
      tool: {
        name: "service_get_usage",
        title: "Plan and usage",
        description:
          "Reads the organization's plan, its used quotas, what remains of its rate limits, and the activity of this month with the tokens of agent sessions, and storage of its apps. Use it before a deployment, when a call failed because of a limit, or when an app is stopped. service_list_apps lists the apps themselves. It counts as one tool call and against no other limit.",
        annotations: READS,
      },
    })
    .input(usageRequest)
    .output(usageResponse)
    .query(({ ctx }) => getUsage(ctx.service, ctx.caller)),

  daily: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/usage/daily",
        tags: ["Usage"],
        summary: "Get the usage by day",
        description:
          "Requests to apps and deployments, by day. Requests of the last ten seconds may be missing, and a crash of the service loses them.",
        successDescription: "The usage by day",
        errorResponses: { 400: "Invalid parameter", 404: "No such app in the organization" },
      },
    })
    .input(dailyUsageRequest)
    .output(dailyUsageResponse)
    .query(({ ctx, input }) => getDailyUsage(ctx.service, ctx.caller, input)),
});
