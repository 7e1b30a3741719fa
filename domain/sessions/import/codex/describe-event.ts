import { isRecord } from "../../../shared/json.ts";

/** Returns what an event says in the conversation: an error or an interruption. @returns `null` for other events */
export function describeEvent({ type, message, reason, error }: Record<string, unknown>): string | null {
  if (type === "error" || type === "stream_error") return withDetail("Error", message);
  if (type === "turn_aborted") return withDetail("Turn aborted", reason);
  if (type === "task_complete" && isRecord(error)) return withDetail("Error", error["message"]);
  return null;
}

function withDetail(text: string, detail: unknown): string {
  return typeof detail === "string" && detail !== "" ? `${text}: ${detail}` : text;
}
