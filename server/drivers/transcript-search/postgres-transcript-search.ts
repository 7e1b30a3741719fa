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
import { listParts, type SearchPart } from "./search-parts.ts";
import { readQuery, type SearchQuery } from "./transcript-search-query.ts";

/** More candidates than this are not sorted. They are so many that the first parts of the sessions have some. */
const FEW_CANDIDATES = 500;
/** A word that most sessions have fills a page with the first of their parts. */
const FIRST_PARTS = 10;
/** How many parts of sessions a statement searches one by one. To check a phrase, PostgreSQL reads the contents. */
const PARTS = { words: 100, phrase: 10 };
/** Of a request. */
const MAX_STATEMENTS = 10;
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

  async mergeNewWords(): Promise<void> {
    await sql`select gin_clean_pending_list('session_entries_words_index')`.execute(
      this.#em.fork().getKysely<unknown>(),
    );
  }

  async #find(tx: Transaction<unknown>, request: SearchTranscripts): Promise<FoundTranscripts> {
    // A sequential scan would read the entries of all organizations.
    await sql`select set_config('statement_timeout', ${String(this.#timeoutMs)}, true),
      set_config('enable_seqscan', 'off', true)`.execute(tx);
    const query = await readQuery(tx, request.text);
    if (query === null) return { hits: [], next: null };
    // To check a phrase, PostgreSQL would read the contents of the parts.
    const first = query.hasPhrase
      ? null
      : await searchSessions(tx, request, query, { parts: FIRST_PARTS, statements: 1 });
    if (first !== null && (first.hits.length === request.limit || first.next === null)) return first;
    const candidates = await findCandidates(tx, request, query);
    if (candidates === null)
      return await searchSessions(tx, request, query, {
        parts: query.hasPhrase ? PARTS.phrase : PARTS.words,
        statements: MAX_STATEMENTS,
      });
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
async function searchSessions(
  tx: Transaction<unknown>,
  request: SearchTranscripts,
  query: SearchQuery,
  bounds: { parts: number; statements: number },
): Promise<FoundTranscripts> {
  const { limit } = request;
  const found: Candidate[] = [];
  let { after } = request;
  for (let statement = 0; statement < bounds.statements && found.length <= limit; statement++) {
    const { parts, end } = await listParts(tx, { ...request, after }, bounds.parts);
    found.push(...(await searchParts(tx, parts, query, limit + 1 - found.length)));
    after = end;
    if (end === null) break;
  }
  const hits = await readHits(tx, request, query, found.slice(0, limit));
  const last = found.length > limit ? hits.at(-1) : undefined;
  return { hits, next: last === undefined ? after : toPosition(last) };
}

/** PostgreSQL reads the parts in their order, and none after the last hit. */
async function searchParts(
  tx: Transaction<unknown>,
  parts: readonly SearchPart[],
  { query }: SearchQuery,
  limit: number,
): Promise<Candidate[]> {
  const keys = parts.map(({ key }) => key);
  const ends = parts.map(({ before }) => before);
  const { rows } = await sql<Candidate>`
    select found.session_id, found.seq
    from unnest(${keys}::text[], ${ends}::int[]) with ordinality as part(key, before, number)
    cross join lateral (
      select session_id, seq from session_entries
      where ${WORDS} @@ tsquery_and(part.key::tsquery, ${query}) and seq < part.before
      order by seq desc limit ${limit}
    ) as found
    order by part.number, found.seq desc limit ${limit}`.execute(tx);
  return rows;
}

function toPosition({ updatedAt, sessionId, seq }: TranscriptPosition): TranscriptPosition {
  return { updatedAt, sessionId, seq };
}
