import { getOrganizationTools, updateOrganizationTools } from "../domain/procedures/organization-tools.ts";
import { procedure, router } from "./core/trpc.ts";
import { organizationSettings, updateOrganizationRequest } from "./organization.schema.ts";

const tags = ["Organization"];

export const organization = router({
  get: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/organization",
        tags,
        summary: "Get the settings of the organization",
        description: "Which procedures of apps are tools, and what is recommended for their number.",
        successDescription: "The settings",
      },
    })
    .output(organizationSettings)
    .query(({ ctx }) => getOrganizationTools(ctx.service, ctx.caller, ctx.ownToolCount)),

  update: procedure
    .meta({
      access: { scope: "everything", role: "admin" },
      openapi: {
        method: "PATCH",
        path: "/v1/organization",
        tags,
        summary: "Change the settings of the organization",
        description: "The lists of tools of all members and agents change at once, and their clients are notified.",
        successDescription: "The settings",
        errorResponses: { 400: "The request is invalid" },
      },
    })
    .input(updateOrganizationRequest)
    .output(organizationSettings)
    .mutation(({ ctx, input }) => updateOrganizationTools(ctx.service, ctx.caller, input, ctx.ownToolCount)),
});
