import { type RawBuilder, sql, type Transaction } from "kysely";
import { MAX_QUERY_WORDS } from "../../../domain/ports/transcript-search.ts";
import { separateWords } from "./separate-words.ts";

/** A query as PostgreSQL reads it. */
export interface SearchQuery {
  query: RawBuilder<unknown>;
  /**
   * What the index alone can decide. If it is another query, it also matches entries that `query` does not match. `null` if
   * there is no such query.
   */
  indexed: RawBuilder<unknown> | null;
  /** Whether the words have to follow each other, which only the contents can tell. */
  hasPhrase: boolean;
}

const FOLLOWED_BY = /<(?:-|\d+)>/g;

/** A run of letters and digits. */
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/** Reads the query of a caller, in which any text is valid. Returns `null` if it has no words. */
export async function readQuery(tx: Transaction<unknown>, text: string): Promise<SearchQuery | null> {
  const parsed = sql`websearch_to_tsquery('simple', ${separateWords(takeWords(text))})`;
  const { rows } = await sql<{ nodes: number; text: string }>`
    select numnode(${parsed}) as nodes, ${parsed}::text as text`.execute(tx);
  const row = rows[0];
  // It would match every entry.
  if (row === undefined || row.nodes === 0) return null;
  const query = toQuery(row.text);
  const loose = row.text.replaceAll(FOLLOWED_BY, "&");
  if (loose === row.text) return { query, indexed: query, hasPhrase: false };
  // Without both words is less than without the phrase.
  return { query, indexed: loose.includes("!") ? null : toQuery(loose), hasPhrase: true };
}

/** Returns the part of a text before the first word that is not used. */
function takeWords(text: string): string {
  const next = text.matchAll(WORD).drop(MAX_QUERY_WORDS).next().value;
  return next === undefined ? text : text.slice(0, next.index);
}

function toQuery(text: string): RawBuilder<unknown> {
  return sql`${text}::tsquery`;
}
