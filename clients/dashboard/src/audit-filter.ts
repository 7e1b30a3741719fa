/** The filter of the audit log. Its parts are parameters of both the URL of the page and the procedure. */
export type AuditFilter = Partial<Record<(typeof PARAMETERS)[number], string>>;

const PARAMETERS = ["user_id", "credential_id", "action", "target", "from", "to"] as const;

/** Reads the filter from the query parameters of the page. */
export function readAuditFilter(search: Record<string, unknown>): AuditFilter {
  const entries = PARAMETERS.map((name) => [name, search[name]] as const);
  return Object.fromEntries(entries.filter(([, value]) => typeof value === "string" && value !== ""));
}

/** Formats a time of the URL for a field of type `datetime-local`, in the time zone of the user; `""` for none. */
export function toLocalInput(time: string | undefined): string {
  const date = new Date(time ?? "");
  if (Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The time of a field of type `datetime-local`, in UTC; `""` for an empty field. */
export function fromLocalInput(value: string): string {
  return value === "" ? "" : new Date(value).toISOString();
}
