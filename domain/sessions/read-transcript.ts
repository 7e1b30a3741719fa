import { callHost } from "../agents/call-host.ts";
import { findServer, type FoundServer } from "../agents/find-server.ts";
import { type OpenHostDeps, openHost } from "../agents/open-host.ts";
import type { Db } from "../database-types.ts";
import type { HostedEntry, HostedTranscript } from "../ports/agent-host.ts";
import type { Caller } from "../shared/caller.ts";
import { isUuid } from "../shared/ids.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { SESSION_LIMITS } from "./session-rules.ts";
import { sessionNotFound } from "./session-view.ts";
import type { EntryRole, EntryTool, EntryUsage } from "./transcript-entry.ts";

export interface ReadTranscript {
  session_id: string;
  /** By default the server that stores the session, and for a session of a gateway that of the caller. */
  server_id?: string | undefined;
  /** The maximum number of entries. */
  limit: number;
  /** Only entries before this seq; without it, the end of the transcript is returned. */
  before?: number | undefined;
}

export interface TranscriptEntry {
  seq: number;
  /** The id that the client has given; `null` for an entry in a gateway. */
  id: string | null;
  role: EntryRole;
  content: string;
  tool?: EntryTool;
  model?: string;
  usage?: EntryUsage;
  /** `null` when a gateway does not know it. */
  created_at: string | null;
}

export interface TranscriptPage<T = TranscriptEntry> {
  /** In the order of the transcript. */
  entries: T[];
  /** Reads the entries before these; `null` at the beginning of the transcript. */
  before: number | null;
}

/**
 * Returns the end of a session's transcript, or the entries before a seq. A page has at most `limit` entries, and 1 MiB of
 * content.
 *
 * @throws {ServiceError} `not_found` when the organization, or the server, has no such session; `unavailable` or `conflict`
 *   when the host of the server does not return it
 */
export async function readTranscript(
  access: OpenHostDeps,
  caller: Caller,
  request: ReadTranscript,
): Promise<TranscriptPage> {
  const { entries, hasMore } = await readFromHost(access, caller, request, SESSION_LIMITS.contentBytes);
  return toPage(entries.map(toEntry), hasMore);
}

/** Reads entries from the host of a session's server: the newest first. */
export async function readFromHost(
  access: OpenHostDeps,
  caller: Caller,
  { session_id: sessionId, server_id: serverId, limit, before }: ReadTranscript,
  maxCharacters: number,
): Promise<HostedTranscript> {
  const stored = serverId === undefined ? await findStoringServer(access.db, caller, sessionId) : undefined;
  const server = stored ?? (await findServer(access.db, caller, serverId));
  const host = await openHost(access, caller, server);
  const request = { sessionId, limit, before, maxCharacters };
  return callHost((signal) => host.readTranscript(request, signal), sessionNotFound);
}

async function findStoringServer(db: Db, { orgId }: Caller, sessionId: string): Promise<FoundServer | undefined> {
  if (!isUuid(sessionId)) return undefined;
  return db
    .selectFrom("sessions as session")
    .innerJoin("agent_servers as server", "server.id", "session.server_id")
    .select(["server.id", "server.kind"])
    .where("session.id", "=", sessionId)
    .where("session.org_id", "=", orgId)
    .executeTakeFirst();
}

/** @param newestFirst - the entries of the page */
export function toPage<T extends { seq: number }>(newestFirst: readonly T[], hasMore: boolean): TranscriptPage<T> {
  const oldest = newestFirst.at(-1)?.seq ?? null;
  return { entries: newestFirst.toReversed(), before: hasMore ? oldest : null };
}

function toEntry({ seq, id, role, content, tool, model, usage, createdAt }: HostedEntry): TranscriptEntry {
  return {
    seq,
    id,
    role,
    content,
    ...(tool !== null && { tool }),
    ...(model !== null && { model }),
    ...(usage !== null && { usage }),
    created_at: createdAt === null ? null : toIsoTimestamp(createdAt),
  };
}
