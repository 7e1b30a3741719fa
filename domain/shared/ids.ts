const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a value is a UUID. The database accepts nothing else as an id. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && UUID.test(value);
}
