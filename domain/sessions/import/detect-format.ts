import { isRecord } from "../../shared/json.ts";
import type { TranscriptRecord } from "./transcript-reader.ts";

export const TRANSCRIPT_FORMATS = ["claude-code", "codex"] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** Both programs write records of other kinds before the first one that shows the format. */
const MAX_RECORDS = 100;

/** Finds the format of a transcript in its first records. @returns `null` when none of them shows it */
export async function detectFormat(records: AsyncIterable<TranscriptRecord>): Promise<TranscriptFormat | null> {
  let count = 0;
  for await (const { value } of records) {
    const format = formatOf(value);
    if (format !== null || ++count === MAX_RECORDS) return format;
  }
  return null;
}

function formatOf({ type, sessionId, leafUuid, payload }: Record<string, unknown>): TranscriptFormat | null {
  if (type === "session_meta" && isRecord(payload) && typeof payload["id"] === "string") return "codex";
  if (typeof type !== "string") return null;
  return typeof sessionId === "string" || typeof leafUuid === "string" ? "claude-code" : null;
}
