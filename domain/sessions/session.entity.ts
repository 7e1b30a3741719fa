import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";

/** A conversation of an agent. Its counters are sums of its entries, and change in the same transactions. */
export const SessionSchema = defineEntity({
  name: "Session",
  tableName: "sessions",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    serverId: p.uuid(),
    agentId: p.uuid(),
    /** The id that the client has given. */
    externalId: p.string(),
    title: p.string().nullable(),
    /** The number of entries. Their seqs have no gaps, so it is also the seq of the last one. */
    messageCount: p.integer().default(0),
    inputTokens: p.bigint("string").default("0"),
    outputTokens: p.bigint("string").default("0"),
    cacheReadTokens: p.bigint("string").default("0"),
    cacheWriteTokens: p.bigint("string").default("0"),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    /** The latest time of an entry, or the creation. */
    updatedAt: p.datetime(3).onCreate(() => new Date()),
    closedAt: p.datetime(3).nullable(),
  },
  uniques: [{ properties: ["agentId", "externalId"] }],
  // The orders of lists, which PostgreSQL reads backwards.
  indexes: [{ properties: ["serverId", "updatedAt", "id"] }, { properties: ["agentId", "updatedAt", "id"] }],
});

export class Session extends SessionSchema.class {}
SessionSchema.setClass(Session);
