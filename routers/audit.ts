import { listEvents } from "../domain/audit/list-events.ts";
import { auditRequest, auditResponse } from "./audit.schema.ts";
import { procedure, router } from "./core/trpc.ts";

export const audit = router({
  list: procedure
    .meta({
      access: { scope: "everything", role: "owner" },
      openapi: {
        method: "GET",
        path: "/v1/audit-events",
        tags: ["Audit"],
        summary: "Read the audit log",
        description: "Who did what to what, from where, in the organization: newest first, 100 a page. For its owners.",
        successDescription: "A page of the log",
        errorResponses: {
          400: "The cursor is none",
          401: "The token is missing or invalid",
          403: "The caller is no owner",
          500: "The service failed",
        },
      },
    })
    .input(auditRequest)
    .output(auditResponse)
    .query(({ ctx, input }) => listEvents(ctx.audit, ctx.caller, input)),
});
