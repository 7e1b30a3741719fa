import type { CallOptions } from "./call-options.ts";
import type { Transport } from "./transport.ts";

/** The programs whose transcripts can be imported. */
export const TRANSCRIPT_FORMATS = ["claude-code", "codex", "cursor", "gemini-cli", "openclaw", "opencode"] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

export interface ImportTranscriptRequest {
  /** The id of the agent. */
  id: string;
  /** By default, the format that the first records show. */
  format?: TranscriptFormat;
  /** The file of a transcript, or a function that opens it. It is called for each attempt. */
  file: Blob | (() => ReadableStream<Uint8Array>);
}

export interface ImportedTranscript {
  session_id: string;
  format: TranscriptFormat;
  /** How many entries of the file were new. */
  added: number;
  /** How many entries of the file the session had already. */
  existing: number;
  tokens: { input: number; output: number; cache_read: number; cache_write: number };
  /** The number of records that have no entry, by their kind. */
  skipped: Record<string, number>;
  /** Whether the end of the file was incomplete, and left out. */
  is_cut: boolean;
}

/** Imports a transcript into the session of an agent. Only new entries are added, so it can be repeated. */
export async function importTranscript(
  transport: Transport,
  { id, format, file }: ImportTranscriptRequest,
  options: CallOptions = {},
): Promise<ImportedTranscript> {
  const query = format === undefined ? "" : `?format=${format}`;
  const path = `/v1/agents/${encodeURIComponent(id)}/sessions/import${query}`;
  const body = typeof file === "function" ? file : () => file;
  return (await transport.upload(path, { body, contentType: "application/x-ndjson" }, options)) as ImportedTranscript;
}
