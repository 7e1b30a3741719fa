import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";

/** Where a git host reports the pushes to the repository of one app. */
export const PushEndpointSchema = defineEntity({
  name: "PushEndpoint",
  tableName: "push_endpoints",
  properties: {
    /** Part of the URL. A random one, so that only the git host and the organization know it. */
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    appId: p.uuid().unique(),
    orgId: p.uuid(),
    isEnabled: p.boolean(),
    /** The secret that signs deliveries, encrypted for this endpoint. */
    sealedSecret: p.text(),
    /** The branch whose pushes deploy the app; `null` for the branch of the app. */
    branch: p.text().nullable(),
    /** Only pushes that change such a file deploy the app; without patterns every push does. */
    paths: p.json<readonly string[]>(),
    /** Whether the git host is told how deployments end. */
    reportsStatuses: p.boolean(),
    /** Whether the service also looks for new commits itself. */
    polls: p.boolean(),
    /** The newest commit that polling has seen; `null` before the first look. */
    polledCommit: p.string().nullable(),
    /** When polling looks next; `null` without polling. */
    nextPollAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    updatedAt: p
      .datetime(3)
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
  },
  indexes: [{ properties: ["nextPollAt"] }],
});

export class PushEndpoint extends PushEndpointSchema.class {}
PushEndpointSchema.setClass(PushEndpoint);
