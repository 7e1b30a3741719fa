import { isRecord } from "../../shared/json.ts";

export const TRANSCRIPT_FORMATS = ["claude-code", "codex", "cursor", "gemini-cli", "openclaw", "opencode"] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

type Fields = Record<string, unknown>;

/** What a record has that only one of the formats has. */
const SIGNS: Record<TranscriptFormat, (record: Fields) => boolean> = {
  codex: ({ type, payload }) => type === "session_meta" && isRecord(payload) && typeof payload["id"] === "string",
  openclaw: ({ type, id, version }) => type === "session" && typeof id === "string" && version !== undefined,
  "gemini-cli": ({ projectHash }) => typeof projectHash === "string",
  opencode: ({ info }) => isRecord(info) && isOpencodeInfo(info),
  cursor: ({ type, role, message }) =>
    type === "cursor_export" || (isConversationRole(role) && type === undefined && isRecord(message)),
  "claude-code": ({ type, sessionId, leafUuid }) =>
    typeof type === "string" && (typeof sessionId === "string" || typeof leafUuid === "string"),
};

/** Finds the format of a transcript in one of its records. @returns `null` for a record that does not show it */
export function detectFormat(record: Fields): TranscriptFormat | null {
  return TRANSCRIPT_FORMATS.find((format) => SIGNS[format](record)) ?? null;
}

/** Of a session or a message. */
function isOpencodeInfo({ id, sessionID, projectID, directory }: Fields): boolean {
  return typeof id === "string" && [sessionID, projectID, directory].some((value) => typeof value === "string");
}

function isConversationRole(role: unknown): boolean {
  return role === "user" || role === "assistant";
}
