/** Makes the schemas of a response accept unknown fields, because a later version of `v1` may add fields. */
export function allowUnknownFields(schemas: unknown): void {
  visitObjects(schemas, (schema) => {
    if (schema["additionalProperties"] === false) delete schema["additionalProperties"];
  });
}

/**
 * Moves the default values of a request body from `default` to the descriptions. For openapi-typescript, a field with
 * `default` is required in requests too.
 */
export function describeDefaults(body: unknown): void {
  visitObjects(body, (schema) => {
    if (typeof schema["default"] !== "string") return;
    schema["description"] = `${String(schema["description"])}; default \`${schema["default"]}\``;
    delete schema["default"];
  });
}

function visitObjects(value: unknown, visit: (object: Record<string, unknown>) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) visit(value as Record<string, unknown>);
  for (const each of Object.values(value)) visitObjects(each, visit);
}
