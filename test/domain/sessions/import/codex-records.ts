import { CodexReader } from "../../../../domain/sessions/import/codex/codex-reader.ts";
import { readAll, toRecords } from "./samples.ts";

/** UUIDs of version 7 in the order of their times. */
export const [OTHER, TURN_OF_OTHER, SESSION, TURN] = [1, 2, 3, 4].map(
  (time) => `01a204d4-0000-7000-8000-00000000000${time}`,
);

export function line(type: string, payload: object, timestamp = "2026-11-20T09:00:00.000Z"): object {
  return { timestamp, type, payload };
}

export function meta(id = SESSION, fields: object = {}): object {
  return line("session_meta", { id, cli_version: "0.104.0", ...fields });
}

export function say(text: string, role = "assistant"): object {
  const type = role === "assistant" ? "output_text" : "input_text";
  return line("response_item", { type: "message", role, content: [{ type, text }] });
}

export function item(payload: object): object {
  return line("response_item", payload);
}

export function event(type: string, fields: object = {}): object {
  return line("event_msg", { type, ...fields });
}

export function tokens(input: number, output: number, cached = 0) {
  return { input_tokens: input, cached_input_tokens: cached, output_tokens: output, total_tokens: input + output };
}

export function total(all: object, last: object): object {
  return event("token_count", { info: { total_token_usage: all, last_token_usage: last } });
}

export function readLines(...lines: object[]) {
  const reader = new CodexReader();
  const entries = readAll(reader, toRecords(lines));
  return { entries, skipped: reader.skipped(), session: reader.session() };
}
