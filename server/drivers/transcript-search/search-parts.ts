import { sql, type Transaction } from "kysely";
import type { SearchTranscripts, TranscriptPosition } from "../../../domain/ports/transcript-search.ts";
import { toIsoTimestamp } from "../../../domain/shared/iso-timestamp.ts";

/** How many seqs each part of a session has, as in the function `session_entry_words`: 256. */
const PART_BITS = 8;

/** A range of the entries of a session. All of them have the same key among their words in the index. */
export interface SearchPart {
  key: string;
  /** Only entries before this seq are searched. */
  before: number;
}

export interface SearchParts {
  /** In the order of the hits. */
  parts: SearchPart[];
  /** The position after all of them; `null` when nothing follows. */
  end: TranscriptPosition | null;
}

interface SessionRow {
  id: string;
  message_count: number;
  updated_at: unknown;
}

/** Lists the next parts of the sessions to search, at most `maxParts`. */
export async function listParts(
  tx: Transaction<unknown>,
  request: SearchTranscripts,
  maxParts: number,
): Promise<SearchParts> {
  const sessions = await selectSessions(tx, request, maxParts + 1);
  const parts: SearchPart[] = [];
  for (const { id, message_count: count, updated_at: updatedAt } of sessions) {
    let before = id === request.after?.sessionId ? Math.min(count + 1, request.after.seq) : count + 1;
    // Seqs begin with 1.
    while (before > 1) {
      if (parts.length === maxParts)
        return { parts, end: { updatedAt: toIsoTimestamp(updatedAt), sessionId: id, seq: before } };
      const part = (before - 1) >> PART_BITS;
      parts.push({ key: `'${id} ${part}'`, before });
      before = part << PART_BITS;
    }
  }
  const last = sessions[maxParts];
  return { parts, end: last ? { updatedAt: toIsoTimestamp(last.updated_at), sessionId: last.id, seq: 1 } : null };
}

/** Reads an index in the order of the hits. */
async function selectSessions(
  tx: Transaction<unknown>,
  { orgId, serverId, agentId, after }: SearchTranscripts,
  limit: number,
): Promise<SessionRow[]> {
  const owner = agentId === null ? sql`server_id = ${serverId}` : sql`agent_id = ${agentId}`;
  const isNext = after === null ? sql`true` : sql`(updated_at, id) <= (${after.updatedAt}, ${after.sessionId})`;
  const { rows } = await sql<SessionRow>`
    select id, message_count, updated_at from sessions
    where org_id = ${orgId} and ${owner} and ${isNext}
    order by updated_at desc, id desc limit ${limit}`.execute(tx);
  return rows;
}
