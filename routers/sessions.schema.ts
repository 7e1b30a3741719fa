import { z } from "zod";
import type { AppendedEntries } from "../domain/sessions/append-entries.ts";
import type { TranscriptExcerpt } from "../domain/sessions/browse-transcript.ts";
import type { SessionPage } from "../domain/sessions/list-sessions.ts";
import type { OpenSession } from "../domain/sessions/open-session.ts";
import type { TranscriptPage } from "../domain/sessions/read-transcript.ts";
import { TRANSCRIPT_FORMATS } from "../domain/sessions/import/detect-format.ts";
import type { ImportedTranscript } from "../domain/sessions/import/import-transcript.ts";
import type { SearchPage } from "../domain/sessions/search-transcripts.ts";
import { SESSION_LIMITS } from "../domain/sessions/session-rules.ts";
import type { ServerUsage } from "../domain/sessions/read-server-usage.ts";
import type { SessionView } from "../domain/sessions/session-view.ts";
import { ENTRY_ROLES, type NewEntry } from "../domain/sessions/transcript-entry.ts";
import { MAX_QUERY_WORDS } from "../domain/ports/transcript-search.ts";
import { QUERY_CHARACTERS } from "../domain/shared/search-query.ts";
import { streamedFile, time, timestamp, tokenCounters } from "./core/common.schema.ts";

const EXAMPLE_ID = "5b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e";
const MAX_LIMITS = { sessions: 100, entries: 200 };
const DEFAULT_LIMITS = { sessions: 20, entries: 50 };

/** Any text: a malformed id gets the same response as an unknown one. Ids of a gateway have at most 500 characters. */
const sessionId = z.string().max(500);
const id = sessionId.meta({ description: "The session's id", examples: [EXAMPLE_ID] });
const agentId = z.uuid().meta({ description: "The agent's id", examples: [EXAMPLE_ID] });
const cursor = z.string().max(200).optional();
const before = z.int().min(1);
const sessionLimit = z.int().min(1).max(MAX_LIMITS.sessions);
const entryLimit = z.int().min(1).max(MAX_LIMITS.entries);

export const openSessionRequest = z
  .strictObject({
    id: agentId,
    external_id: z.string().meta({
      description: "Your id of the session, unique for the agent: 1 to 128 visible ASCII characters",
      examples: ["run-2026-11-22"],
    }),
    title: z
      .string()
      .optional()
      .meta({ description: `One line of at most ${SESSION_LIMITS.titleCharacters} characters` }),
    created_at: time.optional().meta({ description: "When the session began, if that was earlier" }),
  })
  .meta({ id: "OpenSessionRequest" }) satisfies z.ZodType<Omit<OpenSession, "agent_id">>;

const tokenCount = z.int().min(0).max(SESSION_LIMITS.tokens);

const newEntry = z.strictObject({
  id: z.string().meta({
    description: "Your id of the entry, unique in the session: 1 to 128 visible ASCII characters",
    examples: ["msg_01"],
  }),
  role: z.enum(ENTRY_ROLES),
  content: z.string().meta({
    description: `At most ${SESSION_LIMITS.contentBytes} bytes of text. For a tool call its arguments as JSON, for a tool result its text`,
  }),
  tool: z
    .strictObject({ name: z.string(), call_id: z.string().optional(), is_error: z.boolean().optional() })
    .optional()
    .meta({ description: "For a tool call (role assistant) and a tool result (role tool)" }),
  model: z
    .string()
    .optional()
    .meta({ description: "The language model", examples: ["claude-sonnet-5"] }),
  usage: z
    .strictObject({ input: tokenCount, output: tokenCount, cache_read: tokenCount, cache_write: tokenCount })
    .optional()
    .meta({ description: "Tokens of the request that produced the entry. `input` is without cached tokens" }),
  created_at: time.optional().meta({ description: "By default the time of the request" }),
}) satisfies z.ZodType<NewEntry>;

export const appendEntriesRequest = z
  .strictObject({ id, entries: z.array(newEntry).min(1).max(SESSION_LIMITS.entriesPerAppend) })
  .meta({ id: "AppendEntriesRequest" });

export const appendedEntries = z
  .object({
    added: z.int().meta({ description: "How many entries were new" }),
    last_seq: z.int().meta({ description: "The seq of the last entry of the session" }),
  })
  .meta({ id: "AppendEntriesResponse" }) satisfies z.ZodType<AppendedEntries>;

export const sessionRequest = z.strictObject({ id });

export const importTranscriptRequest = z.strictObject({
  id: agentId,
  format: z
    .enum(TRANSCRIPT_FORMATS)
    .optional()
    .meta({ description: "By default, the format that the first records show" }),
  file: streamedFile("The file: JSONL, JSON or Markdown"),
});

export const importedTranscript = z
  .object({
    session_id: z.string(),
    format: z.enum(TRANSCRIPT_FORMATS),
    added: z.int().meta({ description: "How many entries of the file were new" }),
    existing: z.int().meta({ description: "How many entries of the file the session had already" }),
    tokens: z
      .object({ input: z.int(), output: z.int(), cache_read: z.int(), cache_write: z.int() })
      .meta({ description: "The tokens of all entries of the file. `input` is without cached tokens" }),
    skipped: z
      .record(z.string(), z.int())
      .meta({ description: "The number of records that have no entry, by their kind" }),
    is_cut: z.boolean().meta({ description: "Whether the end of the file was incomplete, and left out" }),
  })
  .meta({ id: "ImportTranscriptResponse" }) satisfies z.ZodType<ImportedTranscript>;

/** What a tool returns of a session. */
const sessionSummary = {
  session_id: z.string(),
  agent_id: z.string(),
  title: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  message_count: z.number().nullable(),
  tokens: tokenCounters,
};

const session = {
  session_id: z.string(),
  external_id: z.string().meta({ description: "The id that the client has given" }),
  server_id: z.string(),
  agent_id: z.string(),
  title: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp.meta({ description: "The latest time of an entry, or the creation" }),
  closed_at: timestamp.nullable(),
  message_count: z
    .int()
    .nullable()
    .meta({ description: "The number of entries, and the seq of the last one; null for a session in OpenClaw" }),
  tokens: tokenCounters.meta({ description: "Sums of all entries" }),
};

export const sessionResponse = z.object(session).meta({ id: "Session" }) satisfies z.ZodType<SessionView>;

const filter = { server_id: z.uuid().optional(), agent_id: z.uuid().optional() };

/** Numbers of a query are text. */
export const listSessionsRequest = z.strictObject({
  server_id: filter.server_id.meta({ description: "By default the server of the agent, or the first server" }),
  agent_id: filter.agent_id.meta({ description: "By default all agents of the server" }),
  limit: sessionLimit.default(DEFAULT_LIMITS.sessions).meta({ description: "Maximum number" }),
  cursor: cursor.meta({ description: "`next_cursor` of the previous page" }),
});

export const listSessionsToolRequest = z.strictObject({
  server_id: filter.server_id.meta({ description: "Default: your own server, or the first" }),
  agent_id: filter.agent_id.meta({ description: "Default: all agents of the server" }),
  limit: sessionLimit.default(DEFAULT_LIMITS.sessions),
  cursor: cursor.meta({ description: "next_cursor of the previous page" }),
});

export const sessionPage = z
  .object({ sessions: z.array(sessionResponse), next_cursor: z.string().nullable() })
  .meta({ id: "ListSessionsResponse" }) satisfies z.ZodType<SessionPage>;

export const searchSessionsRequest = z.strictObject({
  q: z.string().meta({
    description: `Words, "phrases", \`or\` and \`-word\`: at most ${QUERY_CHARACTERS} characters, of which the first ${MAX_QUERY_WORDS} words are used`,
    examples: ["invoice -draft"],
  }),
  server_id: filter.server_id.meta({ description: "By default the server of the agent, or the first server" }),
  agent_id: filter.agent_id.meta({ description: "By default all agents of the server" }),
  limit: sessionLimit.default(DEFAULT_LIMITS.sessions).meta({ description: "Maximum number" }),
  cursor: cursor.meta({ description: "`next_cursor` of the previous page" }),
});

export const searchPage = z
  .object({
    hits: z.array(
      z.object({
        session_id: z.string(),
        agent_id: z.string(),
        title: z.string().nullable().meta({ description: "The title of the session" }),
        seq: z.int().meta({ description: "The entry's number in the transcript" }),
        role: z.enum(ENTRY_ROLES),
        created_at: timestamp,
        excerpt: z.string().meta({ description: "A part of the content, as plain text" }),
        matches: z.array(z.object({ start: z.int(), end: z.int() })).meta({
          description: "Where the words are in the excerpt, in UTF-16 code units; `end` is after the last one",
        }),
      }),
    ),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: "A page can have fewer hits, even none, before the last page" }),
  })
  .meta({ id: "SearchSessionsResponse" }) satisfies z.ZodType<SearchPage>;

export const sessionPageOfTool = z.object({
  sessions: z.array(z.object(sessionSummary)),
  next_cursor: z.string().nullable(),
});

export const serverUsageRequest = z.strictObject({
  id: z
    .string()
    .max(200)
    .meta({ description: "The server's id", examples: [EXAMPLE_ID] }),
  period: z
    .string()
    .optional()
    .meta({ description: "A month (UTC); by default the current one", examples: ["2026-07"] }),
});

const usage = {
  message_count: z.int().meta({ description: "Entries of the month" }),
  tokens: tokenCounters.meta({ description: "Sums of the entries of the month" }),
};

export const serverUsageResponse = z
  .object({
    server_id: z.string(),
    period: z.string(),
    ...usage,
    agents: z.array(z.object({ agent_id: z.string(), name: z.string(), ...usage })),
  })
  .meta({ id: "ServerUsageResponse" }) satisfies z.ZodType<ServerUsage>;

export const transcriptRequest = z.strictObject({
  id,
  server_id: filter.server_id.meta({
    description: "By default the server that stores the session. A session in OpenClaw requires it",
  }),
  limit: entryLimit.default(DEFAULT_LIMITS.entries).meta({ description: "Maximum number" }),
  before: before.optional().meta({ description: "`before` of the previous response" }),
});

export const transcriptToolRequest = z.strictObject({
  session_id: sessionId,
  server_id: filter.server_id.meta({ description: "Default: the server that stores the session, or your own" }),
  limit: entryLimit.default(DEFAULT_LIMITS.entries),
  before: before.optional().meta({ description: "before of the previous page" }),
});

const tool = z.object({ name: z.string(), call_id: z.string().optional(), is_error: z.boolean().optional() });

const entry = {
  seq: z.int().meta({
    description: "From 1 on, without gaps. In OpenClaw, a message and its tool calls have the same one",
  }),
  id: z.string().nullable().meta({ description: "The id that the client has given; null in OpenClaw" }),
  role: z.enum(ENTRY_ROLES),
  content: z.string(),
  tool: tool.optional(),
  model: z.string().optional(),
  usage: z
    .object({ input: z.number(), output: z.number(), cache_read: z.number(), cache_write: z.number() })
    .optional(),
  created_at: timestamp.nullable(),
};

export const transcriptPage = z
  .object({
    entries: z.array(z.object(entry)),
    before: z.int().nullable().meta({ description: "Reads the entries before these; null at the beginning" }),
  })
  .meta({ id: "TranscriptResponse" }) satisfies z.ZodType<TranscriptPage>;

export const transcriptPageOfTool = z.object({
  entries: z.array(
    z.object({
      seq: z.number(),
      role: z.enum(ENTRY_ROLES),
      content: z.string(),
      note: z.string().optional(),
      tool: tool.optional(),
      created_at: z.string().nullable(),
    }),
  ),
  before: z.number().nullable(),
}) satisfies z.ZodType<TranscriptPage<TranscriptExcerpt>>;
