import { defineEntity, p } from "@mikro-orm/core";

/** Which procedures of apps `tools/list` contains beside the service's own tools: those of small apps, or none. */
export const DIRECT_TOOLS = ["all", "none"] as const;

export type DirectTools = (typeof DIRECT_TOOLS)[number];

export const OrganizationSchema = defineEntity({
  name: "Organization",
  tableName: "organizations",
  properties: {
    /** The id of the row in `auth.organization`, which has the name. Members and roles are in `auth.member`. */
    id: p.uuid().primary(),
    /** `null` for the default plan. */
    plan: p.string().nullable(),
    directTools: p.string().$type<DirectTools>().default("all"),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  checks: [{ name: "organizations_direct_tools_check", expression: "direct_tools in ('all', 'none')" }],
});

export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization);
