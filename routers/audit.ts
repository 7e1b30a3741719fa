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
        summary: "List audit events",
        description:
          "Lists actor, action, target and client address of every change in the organization and of its members' sign-ins, with their names. Filters by user, credential, action, target and time can be combined. Newest first, 100 events per page. Requires the role owner.",
        successDescription: "One page of audit events",
        errorResponses: { 400: "Invalid filter or cursor" },
      },
    })
    .input(auditRequest)
    .output(auditResponse)
    .query(({ ctx, input }) => listEvents(ctx.service, ctx.caller, input)),
});
