import type { NewEntry } from "../transcript-entry.ts";

/** A line of a transcript file. */
export interface TranscriptRecord {
  /** From 1 on. */
  line: number;
  value: Record<string, unknown>;
}

/** What a transcript file says about its session so far. */
export interface ReadSession {
  /** Names the session among all sessions of the format; `null` before a record names it. */
  id: string | null;
  title: string | null;
}

/**
 * Reads the records of one transcript file in order. The entries of a record depend only on it and the records before it, so a
 * longer version of the same file has the same entries with the same ids, and further ones.
 */
export interface TranscriptReader {
  /** Returns the entries that the transcript has with this record and did not have before. */
  read(record: TranscriptRecord): NewEntry[];
  /** Returns the entries that can be added although their response may continue, when the file ends here. */
  end(): NewEntry[];
  session(): ReadSession;
  /** The number of records without an entry, by their kind. */
  skipped(): Record<string, number>;
}
