import type { SqlEntityManager } from "@mikro-orm/sql";
import { sql, type Transaction } from "kysely";
import {
  type FoundTranscripts,
  SearchTimeout,
  type SearchTranscripts,
  type TranscriptPosition,
  type TranscriptSearch,
} from "../../../domain/ports/transcript-search.ts";
import { type Candidate, readHits, WORDS } from "./read-hits.ts";
import { listParts } from "./search-parts.ts";
import { readQuery, type SearchQuery } from "./search-query.ts";

/** More candidates than this are not sorted. They are so many that the first parts of the sessions have some. */
const FEW_CANDIDATES = 500;
/** How many parts of sessions a request searches one by one. To check a phrase, PostgreSQL reads the contents. */
const MAX_PARTS = { words: 1000, phrase: 50 };
const DEFAULT_TIMEOUT_MS = 5000;
/** SQLSTATE `query_canceled`. */
const QUERY_CANCELED = "57014";

/**
 * Searches with the full text index of PostgreSQL (decision 28). Words in a GIN index have no order, so few matches are
 * sorted, and of many the first are found by searching the sessions in the order of the hits, part by part.
 */
export class PostgresTranscriptSearch implements TranscriptSearch {
  readonly #em: SqlEntityManager;
  readonly #timeoutMs: number;

  constructor(em: SqlEntityManager, { timeoutMs = DEFAULT_TIMEOUT_MS }: { timeoutMs?: number } = {}) {
    this.#em = em;
    this.#timeoutMs = timeoutMs;
  }

  async find(request: SearchTranscripts): Promise<FoundTranscripts> {
    const db = this.#em.fork().getKysely<unknown>();
    try {
      return await db.transaction().execute((tx) => this.#find(tx, request));
    } catch (cause) {
      if ((cause as { code?: unknown }).code !== QUERY_CANCELED) throw cause;
      throw new SearchTimeout("The search took too long.", { cause });
    }
  }

  async #find(tx: Transaction<unknown>, request: SearchTranscripts): Promise<FoundTranscripts> {
    // A sequential scan would read the entries of all organizations.
    await sql`select set_config('statement_timeout', ${String(this.#timeoutMs)}, true),
      set_config('enable_seqscan', 'off', true)`.execute(tx);
    const query = await readQuery(tx, request.text);
    if (query === null) return { hits: [], next: null };
    const candidates = await findCandidates(tx, request, query);
    if (candidates === null) return await searchParts(tx, request, query);
    const hits = await readHits(tx, request, query, candidates);
    const last = hits.length > request.limit ? hits[request.limit - 1] : undefined;
    return { hits: hits.slice(0, request.limit), next: last === undefined ? null : toPosition(last) };
  }
}

/** Returns all entries of the server that may match, in no order, or `null` if there are many. */
async function findCandidates(
  tx: Transaction<unknown>,
  { serverId }: SearchTranscripts,
  { indexed }: SearchQuery,
): Promise<Candidate[] | null> {
  if (indexed === null) return null;
  const { rows } = await sql<Candidate>`
    select session_id, seq from session_entries
    where ${WORDS} @@ tsquery_and(${`'server ${serverId}'`}::tsquery, ${indexed})
    limit ${FEW_CANDIDATES + 1}`.execute(tx);
  return rows.length > FEW_CANDIDATES ? null : rows;
}

/** Searches the next parts of the sessions in the order of the hits, until there are enough hits. */
async function searchParts(
  tx: Transaction<unknown>,
  request: SearchTranscripts,
  query: SearchQuery,
): Promise<FoundTranscripts> {
  const { limit } = request;
  const { parts, end } = await listParts(tx, request, query.hasPhrase ? MAX_PARTS.phrase : MAX_PARTS.words);
  const keys = parts.map(({ key }) => key);
  const ends = parts.map(({ before }) => before);
  // PostgreSQL reads the parts in their order, and none after the last hit.
  const { rows } = await sql<Candidate>`
    select found.session_id, found.seq
    from unnest(${keys}::text[], ${ends}::int[]) with ordinality as part(key, before, number)
    cross join lateral (
      select session_id, seq from session_entries
      where ${WORDS} @@ tsquery_and(part.key::tsquery, ${query.query}) and seq < part.before
      order by seq desc limit ${limit + 1}
    ) as found
    order by part.number, found.seq desc limit ${limit + 1}`.execute(tx);
  const hits = await readHits(tx, request, query, rows.slice(0, limit));
  const last = rows.length > limit ? hits.at(-1) : undefined;
  return { hits, next: last === undefined ? end : toPosition(last) };
}

function toPosition({ updatedAt, sessionId, seq }: TranscriptPosition): TranscriptPosition {
  return { updatedAt, sessionId, seq };
}
