/** The length of a timestamp as PostgreSQL writes it in UTC, such as `2026-11-20 09:30:00.123+00`. */
const POSTGRES_UTC_LENGTH = 26;

/** Formats a timestamp as RFC 3339 in UTC with milliseconds. Queries return it as text, entities as a `Date`. */
export function toIsoTimestamp(value: unknown): string {
  // Parsing the text as a Date takes 7 % of the CPU time of a list of 50 apps. PostgreSQL omits zeros at the end.
  if (typeof value === "string" && value.length === POSTGRES_UTC_LENGTH && value.endsWith("+00"))
    return `${value.slice(0, 10)}T${value.slice(11, 23)}Z`;
  return new Date(value as string | Date).toISOString();
}
