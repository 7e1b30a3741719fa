import { defineEntity, p } from "@mikro-orm/core";

export const OrganizationSchema = defineEntity({
  name: "Organization",
  tableName: "organizations",
  properties: {
    /** The id of the row in `auth.organization`, which has the name. Members and roles are in `auth.member`. */
    id: p.uuid().primary(),
    /** `null` for the default plan. */
    plan: p.string().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
});

export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization);
