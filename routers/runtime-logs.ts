import { listRuntimeLogs } from "../domain/runtime-logs/list-runtime-logs.ts";
import { procedure, router } from "./core/trpc.ts";
import { runtimeLogsRequest, runtimeLogsResponse } from "./runtime-logs.schema.ts";

export const runtimeLogs = router({
  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/runtime-logs",
        tags: ["Apps"],
        summary: "Read what an app has printed",
        description:
          "Messages of `console`, uncaught exceptions, and why the app was stopped, newest first. The newest megabyte of an app is kept. If an app prints more than 100 messages or 32 KiB a second, some are dropped, and a message says how many.",
        successDescription: "A page of messages",
        errorResponses: { 404: "No such app in the organization" },
      },
    })
    .input(runtimeLogsRequest)
    .output(runtimeLogsResponse)
    .query(({ ctx, input }) => listRuntimeLogs(ctx.service, ctx.caller, input)),
});
