import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { CredentialKind } from "../shared/caller.ts";
import type { MemoryKind } from "./memory-rules.ts";

/** What an agent is to remember beyond one session. */
export const MemorySchema = defineEntity({
  name: "Memory",
  tableName: "memories",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    agentId: p.uuid(),
    kind: p.string().$type<MemoryKind>(),
    content: p.text(),
    /** The SHA-256 of the normalized content, in hex. */
    contentHash: p.string(),
    /** The SHA-256 of the words that carry the meaning of the content, in hex. */
    meaningHash: p.string(),
    /** Whether the content has the form of an instruction to a language model. */
    instructionLike: p.boolean(),
    /** Identifies the content in the search index of the agent's memories. */
    indexId: p.integer(),
    /** Who has stored the current content; `null` when no user is known. */
    userId: p.uuid().nullable(),
    credentialKind: p.string().$type<CredentialKind>(),
    credentialId: p.string(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    /** When the current content was stored. */
    updatedAt: p.datetime(3).onCreate(() => new Date()),
  },
  uniques: [{ properties: ["agentId", "contentHash"] }, { properties: ["agentId", "indexId"] }],
  indexes: [{ properties: ["agentId", "kind", "meaningHash"] }, { properties: ["agentId", "createdAt", "id"] }],
});

export class Memory extends MemorySchema.class {}
MemorySchema.setClass(Memory);
