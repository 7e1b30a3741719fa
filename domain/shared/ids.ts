const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a value has the form of an id of the service's, which is the only one that the database takes. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && UUID.test(value);
}
