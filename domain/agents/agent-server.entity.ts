import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";

/** A server hosts one main agent and its specialized agents. */
export const AgentServerSchema = defineEntity({
  name: "AgentServer",
  tableName: "agent_servers",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    name: p.string(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  // The order of lists.
  indexes: [{ properties: ["orgId", "createdAt", "id"] }],
});

export class AgentServer extends AgentServerSchema.class {}
AgentServerSchema.setClass(AgentServer);
