import { isRecord } from "../../shared/json.ts";

export const TRANSCRIPT_FORMATS = ["claude-code", "codex"] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** Finds the format of a transcript in one of its records. @returns `null` for a record that does not show it */
export function detectFormat({ type, sessionId, leafUuid, payload }: Record<string, unknown>): TranscriptFormat | null {
  if (type === "session_meta" && isRecord(payload) && typeof payload["id"] === "string") return "codex";
  if (typeof type !== "string") return null;
  return typeof sessionId === "string" || typeof leafUuid === "string" ? "claude-code" : null;
}
