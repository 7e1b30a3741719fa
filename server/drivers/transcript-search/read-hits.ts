import { sql, type Transaction } from "kysely";
import type { SearchTranscripts, TranscriptHit } from "../../../domain/ports/transcript-search.ts";
import { toIsoTimestamp } from "../../../domain/shared/iso-timestamp.ts";
import { MATCH_END, MATCH_START, toExcerpt } from "./excerpt.ts";
import type { SearchQuery } from "./transcript-search-query.ts";
import { JOINING_CHARACTERS } from "./separate-words.ts";

/** The indexed expression, of a migration. */
export const WORDS = sql`session_entry_words(server_id, session_id, seq, content)`;

/** How much of a content is searched, as in the function `session_entry_words`. */
const SEARCHED_CHARACTERS = 2048;
const HEADLINE = `StartSel=${MATCH_START}, StopSel=${MATCH_END}, HighlightAll=true`;
/** Of a content, before its matches are marked. The text keeps its length. */
const REPLACED = JOINING_CHARACTERS + MATCH_START + MATCH_END;

/** An entry that may match. */
export interface Candidate {
  session_id: string;
  seq: number;
}

interface HitRow {
  session_id: string;
  seq: number;
  updated_at: unknown;
  agent_id: string;
  title: string | null;
  role: TranscriptHit["role"];
  created_at: unknown;
  text: string;
  /** The text with its matches marked. Other characters can be replaced by spaces. */
  marked: string;
}

/**
 * Reads the first of the candidates that match, in the order of the hits, and one more than the page has. Only entries of
 * sessions that exist are hits.
 */
export async function readHits(
  tx: Transaction<unknown>,
  { orgId, serverId, agentId, after, limit }: SearchTranscripts,
  { query, hasPhrase }: SearchQuery,
  candidates: readonly Candidate[],
): Promise<TranscriptHit[]> {
  const sessionIds = candidates.map(({ session_id: id }) => id);
  const seqs = candidates.map(({ seq }) => seq);
  const isMatch = hasPhrase
    ? sql`session_entry_words(entry.server_id, entry.session_id, entry.seq, entry.content) @@ ${query}`
    : sql`true`;
  const isOfAgent = agentId === null ? sql`true` : sql`session.agent_id = ${agentId}`;
  const isNext =
    after === null
      ? sql`true`
      : sql`(session.updated_at, session.id, candidate.seq) < (${after.updatedAt}, ${after.sessionId}, ${after.seq})`;
  // The order makes PostgreSQL use the primary key. For an equal seq it may read all entries of a session instead.
  const { rows } = await sql<HitRow>`
    select hit.session_id, hit.seq, hit.updated_at, hit.agent_id, hit.title, hit.role, hit.created_at, hit.text,
      ts_headline('simple', translate(hit.text, ${REPLACED}, ${" ".repeat(REPLACED.length)}), ${query}, ${HEADLINE}) as marked
    from (
      select entry.session_id, entry.seq, entry.role, entry.created_at,
        left(entry.content, ${SEARCHED_CHARACTERS}) as text, session.updated_at, session.agent_id, session.title
      from unnest(${sessionIds}::uuid[], ${seqs}::int[]) as candidate(session_id, seq)
      join sessions session on session.id = candidate.session_id
      cross join lateral (
        select * from session_entries
        where session_id = candidate.session_id and seq >= candidate.seq order by seq limit 1
      ) as entry
      where entry.seq = candidate.seq and session.org_id = ${orgId} and session.server_id = ${serverId}
        and ${isOfAgent} and ${isNext} and ${isMatch}
      order by session.updated_at desc, session.id desc, entry.seq desc limit ${limit + 1}
    ) hit
    order by hit.updated_at desc, hit.session_id desc, hit.seq desc`.execute(tx);
  return rows.map(toHit);
}

function toHit(row: HitRow): TranscriptHit {
  return {
    sessionId: row.session_id,
    seq: row.seq,
    updatedAt: toIsoTimestamp(row.updated_at),
    agentId: row.agent_id,
    title: row.title,
    role: row.role,
    createdAt: row.created_at,
    excerpt: toExcerpt(row.text, row.marked),
  };
}
