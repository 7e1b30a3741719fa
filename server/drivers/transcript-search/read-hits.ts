import { sql, type Transaction } from "kysely";
import type { Excerpt, SearchTranscripts, TranscriptHit } from "../../../domain/ports/transcript-search.ts";
import { toIsoTimestamp } from "../../../domain/shared/iso-timestamp.ts";
import { truncateText } from "../../../domain/shared/response-budget.ts";
import { JOINING_CHARACTERS } from "./separate-words.ts";
import type { SearchQuery } from "./transcript-search-query.ts";

/** They surround each match in a text that PostgreSQL has marked. */
export const MATCH_START = "\u0001";
export const MATCH_END = "\u0002";

/** Of the text, in UTF-16 code units. */
const MAX_LENGTH = 400;
/** How much of a longer text is shown before the first match. */
const BEFORE_MATCH = 100;

/**
 * Returns a text with its matches. A text that is too long is cut around the first match.
 *
 * @param marked - the text with a mark before and after each match; its other characters are not read
 */
export function toExcerpt(text: string, marked: string): Excerpt {
  const matches: Excerpt["matches"] = [];
  let length = 0;
  for (const part of marked.split(MATCH_START)) {
    const end = part.indexOf(MATCH_END);
    if (end > 0) matches.push({ start: length, end: length + end });
    length += part.length - (end < 0 ? 0 : MATCH_END.length);
  }
  return cut(text, matches);
}

function cut(text: string, matches: Excerpt["matches"]): Excerpt {
  const first = matches[0]?.start ?? 0;
  const start = text.length > MAX_LENGTH ? wholeCharacter(text, Math.max(0, first - BEFORE_MATCH)) : 0;
  const shown = truncateText(text.slice(start), MAX_LENGTH);
  return {
    text: shown,
    matches: matches
      .map((match) => ({ start: match.start - start, end: Math.min(match.end - start, shown.length) }))
      .filter((match) => match.start < match.end),
  };
}

/** The beginning of the character at an index, which can be in the middle of a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  return /^[\uDC00-\uDFFF]/.test(text.slice(index, index + 1)) ? index + 1 : index;
}

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
