import type { JsonSchema } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";

/** Keywords of OpenAPI that JSON Schema does not have. */
const OPENAPI_KEYWORDS = new Set(["nullable", "discriminator", "xml", "externalDocs", "example"]);

/** Keywords whose value is a schema, a list of schemas, or an object of schemas by name. */
const SCHEMA_KEYWORDS = ["items", "not", "additionalProperties"];
const LIST_KEYWORDS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAP_KEYWORDS = ["properties", "patternProperties", "$defs"];

/**
 * Converts a schema of OpenAPI 3.0 to JSON Schema 2020-12. Schemas of OpenAPI 3.1 are in that form already.
 *
 * @param schema - with its references resolved
 */
export function toJsonSchema(schema: unknown): JsonSchema {
  if (!isRecord(schema)) return {};
  const kept = Object.entries(schema).filter(([key]) => !OPENAPI_KEYWORDS.has(key));
  const converted: JsonSchema = Object.fromEntries(kept.map(([key, value]) => [key, convertKeyword(key, value)]));
  convertExclusiveBound(converted, "minimum", "exclusiveMinimum");
  convertExclusiveBound(converted, "maximum", "exclusiveMaximum");
  return schema["nullable"] === true ? { anyOf: [converted, { type: "null" }] } : converted;
}

function convertKeyword(key: string, value: unknown): unknown {
  if (SCHEMA_KEYWORDS.includes(key)) return isRecord(value) ? toJsonSchema(value) : value;
  if (LIST_KEYWORDS.includes(key) && Array.isArray(value)) return value.map(toJsonSchema);
  if (!MAP_KEYWORDS.includes(key) || !isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJsonSchema(inner)]));
}

/** OpenAPI 3.0 marks a bound as exclusive by a boolean. In JSON Schema the exclusive keyword holds the bound itself. */
function convertExclusiveBound(schema: JsonSchema, bound: string, exclusiveBound: string): void {
  if (typeof schema[exclusiveBound] !== "boolean") return;
  if (schema[exclusiveBound] && typeof schema[bound] === "number") {
    schema[exclusiveBound] = schema[bound];
    delete schema[bound];
  } else {
    delete schema[exclusiveBound];
  }
}
