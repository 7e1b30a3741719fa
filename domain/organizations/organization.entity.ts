import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";

const OrganizationSchema = defineEntity({
  name: "Organization",
  tableName: "organizations",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    name: p.string(),
    plan: p.string(),
    /** The person who set the organization up. */
    ownerId: p.uuid(),
    ownerEmail: p.string(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
});

export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization);
