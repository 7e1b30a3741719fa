/** What a form or an answer holds. */
export type Fields = Record<string, unknown>;

/** The fields of a value; none when it can have none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
