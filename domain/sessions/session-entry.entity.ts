import { defineEntity, p } from "@mikro-orm/core";
import type { EntryRole } from "./transcript-entry.ts";

/** One message, tool call or tool result of a session. Entries are never changed. */
export const SessionEntrySchema = defineEntity({
  name: "SessionEntry",
  tableName: "session_entries",
  properties: {
    sessionId: p.uuid().primary(),
    /** From 1 on, without gaps. */
    seq: p.integer().primary(),
    /** The id that the client has given. */
    entryId: p.string(),
    role: p.string().$type<EntryRole>(),
    content: p.text(),
    toolName: p.string().nullable(),
    toolCallId: p.string().nullable(),
    toolIsError: p.boolean().nullable(),
    model: p.string().nullable(),
    inputTokens: p.bigint("string").nullable(),
    outputTokens: p.bigint("string").nullable(),
    cacheReadTokens: p.bigint("string").nullable(),
    cacheWriteTokens: p.bigint("string").nullable(),
    createdAt: p.datetime(3),
  },
  uniques: [{ properties: ["sessionId", "entryId"] }],
});

export class SessionEntry extends SessionEntrySchema.class {}
SessionEntrySchema.setClass(SessionEntry);
