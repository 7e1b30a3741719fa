import type { TranscriptRole } from "./agent-host.ts";

/** A place in the order of the hits: the session that was updated last first, and the last entry of a session first. */
export interface TranscriptPosition {
  /** When the session was updated last, in UTC with milliseconds. */
  updatedAt: string;
  sessionId: string;
  seq: number;
}

/** The work of PostgreSQL grows with the number of words. */
export const MAX_QUERY_WORDS = 100;

export interface SearchTranscripts {
  orgId: string;
  serverId: string;
  /** An agent of the server; `null` for all. */
  agentId: string | null;
  /**
   * Words, "phrases", `or` and `-word`. Any text is valid: what is not an operator is read as words. Of more than
   * `MAX_QUERY_WORDS`, the first ones are searched for.
   */
  text: string;
  /** The maximum number of hits. */
  limit: number;
  /** Only entries after this position; `null` for the first page. */
  after: TranscriptPosition | null;
}

/** An entry that matches. */
export interface TranscriptHit extends TranscriptPosition {
  agentId: string;
  title: string | null;
  role: TranscriptRole;
  /** As the database returns it. */
  createdAt: unknown;
  excerpt: Excerpt;
}

/** A part of a content, as plain text. */
export interface Excerpt {
  text: string;
  /** Where the words of the query are, in UTF-16 code units: from `start` until before `end`, in the order of the text. */
  matches: { start: number; end: number }[];
}

export interface FoundTranscripts {
  hits: TranscriptHit[];
  /** Where to continue; `null` at the end. A page can have fewer hits than `limit`, even none, before the end. */
  next: TranscriptPosition | null;
}

/** Searches the stored transcripts of a server. */
export interface TranscriptSearch {
  /**
   * Returns the entries that match a query, in the order of `TranscriptPosition`. Case does not matter, and words are not
   * reduced to their stems. It finds an entry as soon as it is stored, and none whose session is deleted. It reads as many
   * entries as it returns, within a constant factor, however many match.
   *
   * @throws {SearchTimeout} when the query takes too long
   */
  find(request: SearchTranscripts): Promise<FoundTranscripts>;
  /**
   * Merges the words of new entries into the index. Searches find these entries before it too, but they read the words of all
   * of them. Several processes may do so at the same time.
   */
  mergeNewWords(): Promise<void>;
}

/** A query took too long. */
export class SearchTimeout extends Error {
  override readonly name = "SearchTimeout";
}
