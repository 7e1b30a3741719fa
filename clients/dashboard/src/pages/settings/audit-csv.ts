import type { AuditEvent } from "./audit-row.tsx";

const COLUMNS = [
  "created_at",
  "action",
  "outcome",
  "user_id",
  "user_name",
  "user_email",
  "credential_kind",
  "credential_id",
  "credential_name",
  "target_kind",
  "target",
  "target_name",
  "target_email",
  "variable_name",
  "address",
  "id",
] as const satisfies readonly (keyof AuditEvent)[];

/** Formats events as CSV (RFC 4180), with a header. */
export function toCsv(events: readonly AuditEvent[]): string {
  const rows = events.map((event) => COLUMNS.map((column) => toCell(event[column] ?? "")));
  return [COLUMNS, ...rows].map((cells) => `${cells.join(",")}\r\n`).join("");
}

/** A spreadsheet executes a cell that begins with one of these characters. A quote before them makes it text. */
const FORMULA = /^[=+\-@\t\r]/;

function toCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return safe !== text || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
