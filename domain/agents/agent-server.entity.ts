import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { ServerKind, ServerStatus } from "./server-status.ts";

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
    kind: p.string().$type<ServerKind>().default("managed"),
    /** Of the gateway; `null` for a managed server. */
    url: p.text().nullable(),
    /** The encrypted token for the gateway; `null` for a managed server. */
    sealedToken: p.text().nullable(),
    /** Rises with each change of the URL or the token. */
    connectionVersion: p.integer().default(1),
    status: p.string().$type<ServerStatus>().default("ready"),
    statusSince: p
      .datetime(3)
      .onCreate(() => new Date())
      .defaultRaw("now()"),
    /** Why the agents cannot be reached, for the owners of the organization. */
    statusMessage: p.text().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [
    // The order of lists.
    { properties: ["orgId", "createdAt", "id"] },
    // The gateways to connect to.
    { name: "agent_servers_remote_index", properties: ["id"], where: { kind: { $ne: "managed" } } },
  ],
});

export class AgentServer extends AgentServerSchema.class {}
AgentServerSchema.setClass(AgentServer);
