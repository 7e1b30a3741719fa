import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { AgentRuntime } from "./agent-runtime.ts";

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
    /** Identifies the agent on the gateway of its server; `null` for an agent of a managed server, and before the first contact. */
    externalId: p.string().nullable(),
    /** What the agent says of its language model; the service does not use it. */
    model: p.string().nullable(),
    /** Whether it is the main agent of its server. A server has exactly one. */
    isMain: p.boolean(),
    /** `null` for an agent that has declared nothing. */
    runtime: p.json().$type<AgentRuntime>().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  uniques: [
    { name: "agents_main_agent_unique", properties: ["serverId"], where: { isMain: true } },
    { properties: ["serverId", "externalId"] },
  ],
  indexes: [{ properties: ["serverId", "createdAt", "id"] }],
});

export class Agent extends AgentSchema.class {}
AgentSchema.setClass(Agent);
