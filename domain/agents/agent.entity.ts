import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";

export const AgentSchema = defineEntity({
  name: "Agent",
  tableName: "agents",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    serverId: p.uuid(),
    name: p.string(),
    /** What the agent says of its language model; the service does not use it. */
    model: p.string().nullable(),
    /** Whether it is the main agent of its server. A server has exactly one. */
    isMain: p.boolean(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  uniques: [{ name: "agents_main_agent_unique", properties: ["serverId"], where: { isMain: true } }],
  indexes: [{ properties: ["serverId", "createdAt", "id"] }],
});

export class Agent extends AgentSchema.class {}
AgentSchema.setClass(Agent);
