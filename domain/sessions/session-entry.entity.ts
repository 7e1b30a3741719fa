import { defineEntity, p } from "@mikro-orm/core";
import type { EntryRole } from "./transcript-entry.ts";

/** For the search (decisions 28 and 36). A worker empties the list of pending words, so appends reach its limit rarely. */
const WORDS_INDEX = `create index "session_entries_words_index" on "session_entries" using gin (session_entry_words("server_id", "session_id", "seq", "content")) with (gin_pending_list_limit = 8192)`;

/** One message, tool call or tool result of a session. Entries are never changed. */
export const SessionEntrySchema = defineEntity({
  name: "SessionEntry",
  tableName: "session_entries",
  properties: {
    sessionId: p.uuid().primary(),
    /** From 1 on, without gaps. */
    seq: p.integer().primary(),
    /** Of the session, for the search. */
    serverId: p.uuid(),
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
  indexes: [{ name: "session_entries_words_index", expression: WORDS_INDEX }],
});

export class SessionEntry extends SessionEntrySchema.class {}
SessionEntrySchema.setClass(SessionEntry);
