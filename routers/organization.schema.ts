import { z } from "zod";
import { DIRECT_TOOLS } from "../domain/organizations/organization.entity.ts";
import type { OrganizationTools, UpdateOrganization } from "../domain/procedures/organization-tools.ts";

const directTools = z.enum(DIRECT_TOOLS);

export const organizationSettings = z
  .object({
    org_id: z.uuid(),
    direct_tools: directTools.meta({
      description:
        "`all`: each procedure of an app with five or fewer is a tool. `none`: agents use `service_docs_search` and `service_execute`",
    }),
    tool_count: z.int().meta({ description: "The number of tools with `all`, those of the service included" }),
    recommended_direct_tools: directTools.meta({ description: "`none` for more than 60 tools" }),
    customization_available: z
      .boolean()
      .meta({ description: "Whether the app builder agent can customize apps: the service has a language model" }),
  })
  .meta({ id: "OrganizationSettings" }) satisfies z.ZodType<OrganizationTools>;

export const updateOrganizationRequest = z
  .strictObject({ direct_tools: directTools.optional().meta({ description: "Which procedures of apps are tools" }) })
  .meta({ id: "UpdateOrganizationRequest" }) satisfies z.ZodType<UpdateOrganization>;
