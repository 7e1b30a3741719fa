import { findServerAndAgent } from "../agents/find-server.ts";
import type { Db } from "../database-types.ts";
import {
  type Excerpt,
  SearchTimeout,
  type TranscriptHit,
  type TranscriptPosition,
  type TranscriptSearch,
} from "../ports/transcript-search.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { decodeCursor, encodeCursor, invalidCursor } from "../shared/keyset-cursor.ts";
import { readSearchQuery } from "../shared/search-query.ts";
import type { EntryRole } from "./transcript-entry.ts";

export interface SearchTranscriptsDeps {
  db: Db;
  transcriptSearch: TranscriptSearch;
}

export interface SearchSessions {
  /** Words, "phrases", `or` and `-word`. Of more than 100 words, the first 100 are searched for. */
  q: string;
  /** By default the server of the agent, or the first server of the organization. */
  server_id?: string | undefined;
  /** By default all agents of the server. */
  agent_id?: string | undefined;
  /** The maximum number of hits. */
  limit: number;
  /** The `next_cursor` of an earlier page; without it, the first page is returned. */
  cursor?: string | undefined;
}

/** An entry that matches. */
export interface SearchHit {
  session_id: string;
  agent_id: string;
  title: string | null;
  seq: number;
  role: EntryRole;
  created_at: string;
  /** A part of the content, as plain text. */
  excerpt: string;
  /** Where the words of the query are in the excerpt, in UTF-16 code units: from `start` until before `end`. */
  matches: Excerpt["matches"];
}

export interface SearchPage {
  hits: SearchHit[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/**
 * Searches the transcripts of a server, or of one of its agents. The hits are sorted by the update of their session, the
 * latest first, and then by their seq, the last first. A page can have fewer hits than `limit` before the last page.
 *
 * @throws {ServiceError} `invalid` for an empty or too long query, or a cursor that this service did not return; `not_found` when
 *   the organization has no such server, or the server no such agent; `conflict` for a server whose transcripts the service
 *   does not store; `unavailable` when the search takes too long
 */
export async function searchTranscripts(
  { db, transcriptSearch }: SearchTranscriptsDeps,
  caller: Caller,
  { q, limit, cursor, ...owner }: SearchSessions,
): Promise<SearchPage> {
  const text = readSearchQuery("q", q);
  const after = cursor === undefined ? null : decodeSearchCursor(cursor);
  const scope = await findScope(db, caller, owner);
  try {
    const { hits, next } = await transcriptSearch.find({ ...scope, orgId: caller.orgId, text, limit, after });
    return { hits: hits.map(toSearchHit), next_cursor: next === null ? null : encodeSearchCursor(next) };
  } catch (cause) {
    if (!(cause instanceof SearchTimeout)) throw cause;
    throw new ServiceError("unavailable", "The search took too long. Search for rarer words, or in one agent.", {
      cause,
    });
  }
}

type Owner = Pick<SearchSessions, "server_id" | "agent_id">;

async function findScope(
  db: Db,
  caller: Caller,
  { server_id: serverId, agent_id: agentId }: Owner,
): Promise<{ serverId: string; agentId: string | null }> {
  const { server, agent } = await findServerAndAgent(db, caller, { serverId, agentId });
  checkStoresTranscripts(server);
  return { serverId: server.id, agentId: agent?.id ?? null };
}

function checkStoresTranscripts({ kind }: { kind: string }): void {
  if (kind === "managed") return;
  throw new ServiceError(
    "conflict",
    "The transcripts of this server are in an OpenClaw gateway, which has no search. GET /v1/sessions lists its sessions.",
  );
}

function toSearchHit(hit: TranscriptHit): SearchHit {
  return {
    session_id: hit.sessionId,
    agent_id: hit.agentId,
    title: hit.title,
    seq: hit.seq,
    role: hit.role,
    created_at: toIsoTimestamp(hit.createdAt),
    excerpt: hit.excerpt.text,
    matches: hit.excerpt.matches,
  };
}

/** Encodes the cursor of the page after a position. */
export function encodeSearchCursor({ updatedAt, sessionId, seq }: TranscriptPosition): string {
  return `${encodeCursor({ created_at: updatedAt, id: sessionId })}.${seq}`;
}

const CURSOR = /^([\w-]+)\.([1-9]\d{0,6})$/;

/** @throws {ServiceError} `invalid` for a cursor that this service did not return */
export function decodeSearchCursor(cursor: string): TranscriptPosition {
  const [, position, seq] = CURSOR.exec(cursor) ?? [];
  if (position === undefined) throw invalidCursor();
  const { createdAt: updatedAt, id: sessionId } = decodeCursor(position);
  return { updatedAt, sessionId, seq: Number(seq) };
}
