import { ClaudeCodeReader } from "../../../../domain/sessions/import/claude-code/claude-code-reader.ts";
import { readAll, toRecords } from "./samples.ts";

export const SESSION = "2fad0749-4847-4706-b3d4-33207b3278dd";

export function record(fields: object): object {
  return { sessionId: SESSION, timestamp: "2026-11-20T09:00:00.000Z", ...fields };
}

export function response(uuid: string, message: object, fields: object = {}): object {
  return record({ type: "assistant", uuid, message: { role: "assistant", model: "claude", ...message }, ...fields });
}

export function prompt(uuid: string, content: unknown, fields: object = {}): object {
  return record({ type: "user", uuid, message: { role: "user", content }, ...fields });
}

export function readLines(...lines: object[]) {
  const reader = new ClaudeCodeReader();
  const entries = readAll(reader, toRecords(lines));
  return { entries, skipped: reader.skipped(), session: reader.session() };
}

export const TEXT = [{ type: "text", text: "Hello" }];
