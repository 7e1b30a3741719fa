/** Formats a timestamp as RFC 3339 in UTC with milliseconds. Queries return it as text, entities as a `Date`. */
export function toIsoTimestamp(value: unknown): string {
  return new Date(value as string | Date).toISOString();
}
